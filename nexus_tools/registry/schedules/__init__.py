"""Operations on schedules. Start with `schedules.py`."""
