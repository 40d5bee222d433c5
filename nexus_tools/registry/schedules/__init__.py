"""Operations on schedules. Begin with `schedules.py`."""
