"""README and docs as executable tests, which run each code block and compare its output."""

from documents.page import Block, Page
from documents.walk import PageRunner, environment_of

__all__ = ["Block", "Page", "PageRunner", "environment_of"]
