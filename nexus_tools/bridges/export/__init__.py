"""Lend a tool: Nexus tools in the forms that other systems read."""

from nexus_tools.bridges.export.arguments import Arguments
from nexus_tools.bridges.export.exported import Export, ExportedTool
from nexus_tools.bridges.export.formats import FORMATS, export
from nexus_tools.bridges.export.http_urls import callable_by_http
from nexus_tools.bridges.export.names import export_names

__all__ = [
    "FORMATS",
    "Arguments",
    "Export",
    "ExportedTool",
    "callable_by_http",
    "export",
    "export_names",
]
