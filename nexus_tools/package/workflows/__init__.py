"""The Move package of workflows, compiled; its bindings are in `nexus_tools.package.move`."""
