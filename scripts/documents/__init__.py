"""README and docs as executable tests. Every block runs, and its output is compared."""

from documents.page import Block, Page
from documents.walk import PageRunner, environment_of

__all__ = ["Block", "Page", "PageRunner", "environment_of"]
