"""Events: queries, following, and rollback detection. Start with `event_following.py`."""
