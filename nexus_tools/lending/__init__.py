"""Lend a tool: registered tools in the forms that other systems read, and for MCP clients.

Nothing is imported before it is asked for. What speaks MCP (`mcp_server`, `serve_stdio`,
`serve_http`, `http_app`) needs the extra `nexus-tools[mcp]`; what reads the registry
(`RegistryCatalogue`, `Offers`) and calls what it has (`direct_calls`, `OnChainCalls`) joins tools
and Sui; the rest knows only tools.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names

if TYPE_CHECKING:
    from nexus_tools.lending.export.exported import Arguments, Export, ExportedTool
    from nexus_tools.lending.export.formats import FORMATS, export_tools
    from nexus_tools.lending.export.names import export_names
    from nexus_tools.lending.export.openapi import callable_by_http
    from nexus_tools.lending.export.systems import LONGEST_NAMES
    from nexus_tools.lending.export.unstract import write_unstract_tool
    from nexus_tools.lending.mcp.catalogue import Catalogue, CataloguePage, Progress
    from nexus_tools.lending.mcp.direct import direct_calls, direct_config
    from nexus_tools.lending.mcp.on_chain import Budget, OnChainCalls
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
    "Export",
    "ExportedTool",
    "Offer",
    "Offers",
    "OnChainCalls",
    "Progress",
    "RegistryCatalogue",
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
        "export.exported": ("Arguments", "Export", "ExportedTool"),
        "export.formats": ("FORMATS", "export_tools"),
        "export.names": ("export_names",),
        "export.openapi": ("callable_by_http",),
        "export.systems": ("LONGEST_NAMES",),
        "export.unstract": ("write_unstract_tool",),
        "mcp.catalogue": ("Catalogue", "CataloguePage", "Progress"),
        "mcp.direct": ("direct_calls", "direct_config"),
        "mcp.on_chain": ("Budget", "OnChainCalls"),
        "mcp.registered": ("Calls", "Offer", "Offers", "RegistryCatalogue"),
        "mcp.server": ("http_app", "mcp_server", "serve_http", "serve_stdio"),
    },
)
