"""Modules that several command groups share."""
