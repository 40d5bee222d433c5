from .app import IndexApi as IndexApi
from .limits import ApiLimits as ApiLimits
from .mcp_registry import McpServer as McpServer
from .openapi_document import openapi as openapi
from .serving import is_public as is_public
from .serving import serve_api as serve_api
from .source import IndexSource as IndexSource
