"""Definitions of tools as documents, or programs, that other systems read."""
