"""The libraries that extras bring."""

MODULES = {
    "localnet": ("h2", "py_arkworks_bls12381", "sui_sandbox"),
    "compiler": ("wasmtime",),
    "mcp": ("mcp", "mcp_types"),
}
"""By extra, the modules without which it is not installed."""

EXTRA_OF = {module: extra for extra, modules in MODULES.items() for module in modules}
