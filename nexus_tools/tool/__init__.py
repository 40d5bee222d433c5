"""What a tool is: its name, its definition, its schemas, its ports and its outcomes."""

from nexus_tools.tool.definition import (
    DEFAULT_TIMEOUT_MS,
    MAX_TIMEOUT_MS,
    MIN_TIMEOUT_MS,
    ToolDefinition,
    ToolType,
    definition_fields,
)
from nexus_tools.tool.example import example_input
from nexus_tools.tool.fqn import ToolFqn
from nexus_tools.tool.mismatch import Mismatch
from nexus_tools.tool.outcome import Failure, FailureReason, Outcome, is_error_variant
from nexus_tools.tool.ports import HasSchemas, InterfaceValidator
from nexus_tools.tool.schema import (
    MAX_PORTS,
    check_input_schema,
    check_output_schema,
    variants,
)
from nexus_tools.tool.strict_json import canonical_json, measure, parse_json, pointer_of

__all__ = [
    "DEFAULT_TIMEOUT_MS",
    "MAX_PORTS",
    "MAX_TIMEOUT_MS",
    "MIN_TIMEOUT_MS",
    "Failure",
    "FailureReason",
    "HasSchemas",
    "InterfaceValidator",
    "Mismatch",
    "Outcome",
    "ToolDefinition",
    "ToolFqn",
    "ToolType",
    "canonical_json",
    "check_input_schema",
    "check_output_schema",
    "definition_fields",
    "example_input",
    "is_error_variant",
    "measure",
    "parse_json",
    "pointer_of",
    "variants",
]
