"""What a tool is: its name, its definition, its schemas, its ports, its outcomes, its protocol.

What signs and verifies is imported when it is first asked for.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names
from nexus_tools.tool import protocol
from nexus_tools.tool.annotations import (
    ANNOTATIONS,
    annotations_of,
    known_annotations,
    with_annotations,
)
from nexus_tools.tool.definition import (
    DEFAULT_TIMEOUT_MS,
    MAX_DESCRIPTION_BYTES,
    MAX_TIMEOUT_MS,
    MIN_TIMEOUT_MS,
    ToolDefinition,
    ToolType,
    definition_fields,
)
from nexus_tools.tool.domain_owners import (
    MAX_PROOF_BYTES,
    PROOF_PATH,
    DomainOwners,
    RegistryOwners,
    proof_hosts,
)
from nexus_tools.tool.example import example_answer, example_input
from nexus_tools.tool.fqn import ToolFqn
from nexus_tools.tool.fqn_patterns import FqnPatterns
from nexus_tools.tool.host import is_host
from nexus_tools.tool.mismatch import MAX_MISMATCHES, Mismatch, mismatch_error
from nexus_tools.tool.move_function import MAX_GAS_MIST, MoveFunction
from nexus_tools.tool.outcome import (
    Answer,
    Failure,
    FailureReason,
    Outcome,
    OutcomeSignature,
    is_error_variant,
)
from nexus_tools.tool.ports import encoded_ports, outcome_bytes
from nexus_tools.tool.protocol import Problem
from nexus_tools.tool.schema import (
    MAX_PORTS,
    check_input_schema,
    check_output_schema,
    naming_schema,
    variants,
)
from nexus_tools.tool.schema_document import (
    ANCHORS,
    DIALECT,
    SchemaDocument,
    direct_subschemas,
    relocated,
    schema_error,
)
from nexus_tools.tool.strict_json import (
    MAX_DEPTH,
    canonical_json,
    measure,
    parse_json,
    pointer_of,
)
from nexus_tools.tool.summary import port_summary
from nexus_tools.tool.validation_cost import linear_time, pattern_mismatches
from nexus_tools.tool.validator import HasSchemas, InterfaceValidator, OutputValidator
from nexus_tools.tool.waiting import (
    ASK,
    WAIT,
    WAITING_MARGIN_MS,
    ask_definition,
    asks_until_ms,
    is_address_port,
    wait_definition,
    waits_until_ms,
)

if TYPE_CHECKING:
    from nexus_tools.tool.signing import (
        READ_HEADERS,
        RefusedSignatureError,
        SignedRequest,
        check_answer,
        check_body,
        check_request,
        check_response,
        covered_fields,
        is_signed,
        sign_request,
        sign_response,
    )
    from nexus_tools.tool.signing_key import (
        Identity,
        Keys,
        KnownKeys,
        KnownKeysFile,
        SigningKey,
        key_id,
        parse_public_key,
        public_key_text,
    )

__all__ = [
    "ANCHORS",
    "ANNOTATIONS",
    "ASK",
    "DEFAULT_TIMEOUT_MS",
    "DIALECT",
    "MAX_DEPTH",
    "MAX_DESCRIPTION_BYTES",
    "MAX_GAS_MIST",
    "MAX_MISMATCHES",
    "MAX_PORTS",
    "MAX_PROOF_BYTES",
    "MAX_TIMEOUT_MS",
    "MIN_TIMEOUT_MS",
    "PROOF_PATH",
    "READ_HEADERS",
    "WAIT",
    "WAITING_MARGIN_MS",
    "Answer",
    "DomainOwners",
    "Failure",
    "FailureReason",
    "FqnPatterns",
    "HasSchemas",
    "Identity",
    "InterfaceValidator",
    "Keys",
    "KnownKeys",
    "KnownKeysFile",
    "Mismatch",
    "MoveFunction",
    "Outcome",
    "OutcomeSignature",
    "OutputValidator",
    "Problem",
    "RefusedSignatureError",
    "RegistryOwners",
    "SchemaDocument",
    "SignedRequest",
    "SigningKey",
    "ToolDefinition",
    "ToolFqn",
    "ToolType",
    "annotations_of",
    "ask_definition",
    "asks_until_ms",
    "canonical_json",
    "check_answer",
    "check_body",
    "check_input_schema",
    "check_output_schema",
    "check_request",
    "check_response",
    "covered_fields",
    "definition_fields",
    "direct_subschemas",
    "encoded_ports",
    "example_answer",
    "example_input",
    "is_address_port",
    "is_error_variant",
    "is_host",
    "is_signed",
    "key_id",
    "known_annotations",
    "linear_time",
    "measure",
    "mismatch_error",
    "naming_schema",
    "outcome_bytes",
    "parse_json",
    "parse_public_key",
    "pattern_mismatches",
    "pointer_of",
    "port_summary",
    "proof_hosts",
    "protocol",
    "public_key_text",
    "relocated",
    "schema_error",
    "sign_request",
    "sign_response",
    "variants",
    "wait_definition",
    "waits_until_ms",
    "with_annotations",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {
        "signing": (
            "READ_HEADERS",
            "RefusedSignatureError",
            "SignedRequest",
            "check_answer",
            "check_body",
            "check_request",
            "covered_fields",
            "check_response",
            "is_signed",
            "sign_request",
            "sign_response",
        ),
        "signing_key": (
            "Identity",
            "Keys",
            "KnownKeys",
            "KnownKeysFile",
            "SigningKey",
            "key_id",
            "parse_public_key",
            "public_key_text",
        ),
    },
)
