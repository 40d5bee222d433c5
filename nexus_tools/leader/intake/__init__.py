"""New invocations: events are followed and become assignments. Begin with `watcher.py`."""
