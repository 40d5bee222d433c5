"""The compiled Move package of workflows. Its bindings are in `contracts/move_bindings`."""
