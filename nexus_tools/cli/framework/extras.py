"""The modules that the optional extras of the package install."""

MODULES = {
    "localnet": ("h2", "py_arkworks_bls12381", "sui_sandbox"),
    "compiler": ("wasmtime",),
    "mcp": ("mcp", "mcp_types"),
    "index": ("tantivy",),
    "intent": ("numpy", "safetensors", "tokenizers", "wordllama"),
    "fleet": ("psycopg",),
}
"""The modules that each extra installs."""

EXTRA_BY_MODULE = {module: extra for extra, modules in MODULES.items() for module in modules}
