"""The tools that a stranger must not call: what they do to the machine, or that they never end."""

from types import MappingProxyType

PLUGIN_TOOL = "context.tool_module"
"""How a system loads its own tools; its author says from where, so that actions may call it."""

DANGEROUS = MappingProxyType(
    {
        "cli.cmd_popen": "it runs any program that a caller names",
        PLUGIN_TOOL: "it runs any file of Python that a caller names",
        "context.runtime_breakpoint": "it waits for somebody at a debugger",
        "docker.compose_up": "it starts containers, which may do anything to the machine",
        "docker.container_run": "it starts containers, which may do anything to the machine",
        "filesystem.directory_delete": "it deletes any folder that a caller names",
        "terminal.input_prompt": "it waits for somebody at a terminal",
    }
)
"""Why each of them is dangerous, by `namespace.name`."""

HINT = "if its callers may do that, allow it: nexus-tools bridge … --allow-dangerous"
