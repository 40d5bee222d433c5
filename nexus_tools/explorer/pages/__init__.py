"""The pages of the explorer, and the links of its navigation."""

from nexus_tools.explorer.context import PageRoute
from nexus_tools.explorer.pages.accounts import show_account
from nexus_tools.explorer.pages.executions import show_execution
from nexus_tools.explorer.pages.home import show_home
from nexus_tools.explorer.pages.invocations import list_invocations, show_invocation
from nexus_tools.explorer.pages.leaders import list_leaders, show_leader
from nexus_tools.explorer.pages.lists import list_executions, list_schedules, list_workflows
from nexus_tools.explorer.pages.proof import show_proof, show_proof_document
from nexus_tools.explorer.pages.schedules import show_schedule
from nexus_tools.explorer.pages.search import search
from nexus_tools.explorer.pages.tool import show_tool
from nexus_tools.explorer.pages.tools import list_tools
from nexus_tools.explorer.pages.transactions import show_transaction
from nexus_tools.explorer.pages.workflows import show_workflow

NAVIGATION = (
    ("/tools", "Tools"),
    ("/invocations", "Invocations"),
    ("/workflows", "Workflows"),
    ("/executions", "Executions"),
    ("/schedules", "Schedules"),
    ("/leaders", "Leaders"),
)
"""The paths and names of the pages that every page links to."""

ROUTES = (
    PageRoute("/", show_home, is_shared=True),
    PageRoute("/search", search),
    PageRoute("/tools", list_tools, is_shared=True),
    PageRoute("/tools/{fqn}", show_tool),
    PageRoute("/invocations", list_invocations, is_shared=True),
    PageRoute("/invocations/{id}", show_invocation),
    PageRoute("/proof/{id}.json", show_proof_document),
    PageRoute("/proof/{id}", show_proof),
    PageRoute("/workflows", list_workflows, is_shared=True),
    PageRoute("/workflows/{fqn}", show_workflow),
    PageRoute("/executions", list_executions, is_shared=True),
    PageRoute("/executions/{id}", show_execution),
    PageRoute("/schedules", list_schedules, is_shared=True),
    PageRoute("/schedules/{id}", show_schedule),
    PageRoute("/transactions/{digest}", show_transaction),
    PageRoute("/leaders", list_leaders, is_shared=True),
    PageRoute("/leaders/{id}", show_leader),
    PageRoute("/accounts/{address}", show_account),
)
"""The pages. A path without a trailing slash has one page."""
