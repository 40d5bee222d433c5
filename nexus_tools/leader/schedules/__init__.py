"""Schedules that this leader triggers, by time and by event. Start with `schedule_runner.py`."""
