"""What is wrong with a workflow, before anybody pays for it: every rule, and every place."""

from nexus_tools.workflow.linter.lint import lint

__all__ = ["lint"]
