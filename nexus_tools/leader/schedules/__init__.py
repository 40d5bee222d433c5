"""Schedules that this leader triggers, by time and by event. Begin with `schedules.py`."""
