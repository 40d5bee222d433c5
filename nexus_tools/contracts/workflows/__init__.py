"""The compiled Move package of workflows; its bindings are in `contracts/move_bindings`."""
