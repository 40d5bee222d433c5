"""The linter of workflow documents, which reports every violated rule with its location.

Start with `lint`.
"""

from nexus_tools.workflow.linter.lint import lint

__all__ = ["lint"]
