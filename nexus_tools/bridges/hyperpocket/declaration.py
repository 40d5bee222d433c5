"""What a tool says of itself, packaged or in Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.hyperpocket.tool_auth import ToolAuth


@dataclass(frozen=True, slots=True)
class Declaration:
    """The fields of the document's `Tool`, and the variables that its kinds have besides.

    `schema` is its `argument_json_schema`; None means that it takes no arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any] | None
    auth: ToolAuth | None
    variables: Mapping[str, str]
