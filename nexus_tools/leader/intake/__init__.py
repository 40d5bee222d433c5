"""New invocations: the watcher turns events into assignments. Start with `watcher.py`."""
