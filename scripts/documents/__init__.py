"""README and docs as a reader follows them: every block executed, what is shown compared."""

from documents.page import Block, Page
from documents.walk import Walk, environment_of

__all__ = ["Block", "Page", "Walk", "environment_of"]
