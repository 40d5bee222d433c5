"""New invocations: events are followed and become assignments. Start with `watcher.py`."""
