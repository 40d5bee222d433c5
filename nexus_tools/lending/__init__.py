"""Lend a tool: registered tools in the forms that other systems read, and for MCP clients.

Nothing is imported before it is asked for. What speaks MCP (`mcp_server`, `serve_stdio`,
`serve_http`, `http_app`) needs the extra `nexus-tools[mcp]`; what reads the registry
(`RegistryCatalogue`, `Offers`) and calls what it has (`direct_calls`, `OnChainCalls`) joins tools
and Sui; the rest knows only tools.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names

if TYPE_CHECKING:
    from nexus_tools.lending.catalogue import Catalogue, CataloguePage, Progress
    from nexus_tools.lending.direct import direct_calls, direct_config
    from nexus_tools.lending.exported import Arguments, Export, ExportedTool
    from nexus_tools.lending.formats import FORMATS, export
    from nexus_tools.lending.mcp import http_app, mcp_server, serve_http, serve_stdio
    from nexus_tools.lending.names import export_names
    from nexus_tools.lending.on_chain import Budget, OnChainCalls
    from nexus_tools.lending.openapi import callable_by_http
    from nexus_tools.lending.registered import Calls, Offer, Offers, RegistryCatalogue
    from nexus_tools.lending.unstract import write_unstract_tool

__all__ = [
    "FORMATS",
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
    "export",
    "export_names",
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
        "direct": ("direct_calls", "direct_config"),
        "exported": ("Arguments", "Export", "ExportedTool"),
        "formats": ("FORMATS", "export"),
        "catalogue": ("Catalogue", "CataloguePage", "Progress"),
        "mcp": ("http_app", "mcp_server", "serve_http", "serve_stdio"),
        "names": ("export_names",),
        "on_chain": ("Budget", "OnChainCalls"),
        "openapi": ("callable_by_http",),
        "registered": ("Calls", "Offer", "Offers", "RegistryCatalogue"),
        "unstract": ("write_unstract_tool",),
    },
)
