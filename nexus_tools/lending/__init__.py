"""Lend a tool: registered tools in the forms that other systems read, and for MCP clients.

Nothing is imported before it is asked for. What speaks MCP (`mcp_server`, `serve_stdio`,
`serve_http`, `http_app`) needs the extra `nexus-tools[mcp]`; what reads the registry
(`RegistryCatalogue`, `WorkflowCatalogue`) and calls what it has (`direct_calls`, `OnChainCalls`,
`ExecutionCalls`) joins tools and Sui; the rest knows only tools.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names

if TYPE_CHECKING:
    from nexus_tools.lending.export.exported import Arguments, Export, ExportedTool, Lendable
    from nexus_tools.lending.export.formats import FORMATS, export_tools
    from nexus_tools.lending.export.names import export_names
    from nexus_tools.lending.export.openapi import callable_by_http
    from nexus_tools.lending.export.systems import LONGEST_NAMES
    from nexus_tools.lending.export.unstract import write_unstract_tool
    from nexus_tools.lending.mcp.budget import Budget
    from nexus_tools.lending.mcp.catalogue import Catalogue, CataloguePage, Progress
    from nexus_tools.lending.mcp.direct import direct_calls, direct_config
    from nexus_tools.lending.mcp.executions import ExecutionCalls
    from nexus_tools.lending.mcp.joint_catalogue import JointCatalogue
    from nexus_tools.lending.mcp.late_catalogue import LateCatalogue
    from nexus_tools.lending.mcp.listed_prices import ListedPrices
    from nexus_tools.lending.mcp.on_chain import OnChainCalls
    from nexus_tools.lending.mcp.origins import Origin, Origins, Trust
    from nexus_tools.lending.mcp.published import WorkflowCatalogue, WorkflowOffers, WorkflowTerms
    from nexus_tools.lending.mcp.registered import Calls, Offer, Offers, RegistryCatalogue
    from nexus_tools.lending.mcp.server import http_app, mcp_server, serve_http, serve_stdio

__all__ = [
    "FORMATS",
    "LONGEST_NAMES",
    "Arguments",
    "Budget",
    "Calls",
    "Catalogue",
    "CataloguePage",
    "ExecutionCalls",
    "Export",
    "ExportedTool",
    "JointCatalogue",
    "LateCatalogue",
    "Lendable",
    "ListedPrices",
    "Offer",
    "Offers",
    "OnChainCalls",
    "Origin",
    "Origins",
    "Progress",
    "RegistryCatalogue",
    "Trust",
    "WorkflowCatalogue",
    "WorkflowOffers",
    "WorkflowTerms",
    "callable_by_http",
    "direct_calls",
    "direct_config",
    "export_names",
    "export_tools",
    "http_app",
    "mcp_server",
    "serve_http",
    "serve_stdio",
    "write_unstract_tool",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {
        "export.exported": ("Arguments", "Export", "ExportedTool", "Lendable"),
        "export.formats": ("FORMATS", "export_tools"),
        "export.names": ("export_names",),
        "export.openapi": ("callable_by_http",),
        "export.systems": ("LONGEST_NAMES",),
        "export.unstract": ("write_unstract_tool",),
        "mcp.budget": ("Budget",),
        "mcp.catalogue": ("Catalogue", "CataloguePage", "Progress"),
        "mcp.direct": ("direct_calls", "direct_config"),
        "mcp.executions": ("ExecutionCalls",),
        "mcp.joint_catalogue": ("JointCatalogue",),
        "mcp.late_catalogue": ("LateCatalogue",),
        "mcp.listed_prices": ("ListedPrices",),
        "mcp.on_chain": ("OnChainCalls",),
        "mcp.origins": ("Origin", "Origins", "Trust"),
        "mcp.published": ("WorkflowCatalogue", "WorkflowOffers", "WorkflowTerms"),
        "mcp.registered": ("Calls", "Offer", "Offers", "RegistryCatalogue"),
        "mcp.server": ("http_app", "mcp_server", "serve_http", "serve_stdio"),
    },
)
