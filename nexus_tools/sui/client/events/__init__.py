"""Events: queries, following, and rollback detection. Begin with `event_following.py`."""
