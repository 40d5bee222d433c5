"""The version of this project, below everything: whoever says it to others reads it here."""

__version__ = "0.1.0"
