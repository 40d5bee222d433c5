"""The JSON Schema of a file with tool definitions, generated from the rules of the parser."""

from nexus_tools.sui.support.json_schema import (
    SCHEMA_KEY,
    Schema,
    choices,
    description_of,
    items,
    nullable,
    records,
    reference,
    schema_key,
    text,
    whole,
    whole_match,
)
from nexus_tools.tool import definition, fqn, move_function
from nexus_tools.tool.schemas.schema import MAX_PORTS, NAME
from nexus_tools.tool.schemas.schema_document import DIALECT

_PORT_NAME = whole_match(NAME)


def definition_file_schema() -> Schema:
    """Return the schema of a file with one definition, or with a list of definitions.

    The schema accepts every file that `ToolDefinition.parse` accepts. `UNSTATED_RULES` lists the
    rules that the schema does not state.
    """
    return {
        "description": "The definition of a tool, or a list of definitions.",
        "if": {"type": "array"},
        "then": items(reference("definition"), minItems=1),
        "else": reference("definition"),
        "$defs": {
            "definition": _definition(),
            "fqn": fqn_schema(),
            "function": _function(),
            "input": _input(),
            "output": _output(),
            "ports": _unless_reference(_ports()),
        },
    }


UNSTATED_RULES = {
    "bytes": "The length limits count bytes of UTF-8, so text that is not ASCII must be shorter.",
    "version": f"The version in an FQN is at most {fqn.MAX_VERSION}.",
    "host": "The host of a URL is an IP address or a valid name, and the port is at most 65535.",
    "variant": "A branch of `oneOf` requires its only property, and each variant has one branch.",
    "references": "Every `$ref` leads to a subschema of the same schema. The rules for ports and"
    " variants also apply to that subschema.",
    "linear": "Validation of an input or answer takes a bounded time: patterns, nesting and size"
    " are limited.",
    "old_keywords": "Keywords of older drafts, embedded `$id`s and other dialects are not allowed.",
    "integer": "An integer is written without a fraction: `1000`, not `1000.0`.",
}
"""The rules for definitions that only the reader checks, such as `nexus-tools tool register`."""


def fqn_schema() -> Schema:
    """Return the schema of an FQN."""
    label, others = fqn.LABEL.pattern, fqn.MIN_LABELS - 1
    return text(
        "The fully qualified name (FQN) of the tool, such as `xyz.example.math.add@1`.",
        pattern=whole_match(rf"{label}(?:\.{label}){{{others},}}@{fqn.VERSION.pattern}"),
        maxLength=fqn.MAX_BYTES,
    )


def _definition() -> Schema:
    kinds = definition.ToolType
    properties = {
        SCHEMA_KEY: schema_key(),
        "fqn": reference("fqn"),
        "type": choices(kinds) | {"default": kinds.OFFCHAIN.value},
        "url": text(
            "The base URL of an off-chain tool, or `package::module::function` of an on-chain"
            " tool. `0x0` stands for a package that is not published yet.",
            maxLength=definition.MAX_URL_BYTES,
        ),
        "description": text(
            "The purpose of the tool, for people and models.",
            maxLength=definition.MAX_DESCRIPTION_BYTES,
            default="",
        ),
        "timeout": whole(
            definition.MIN_TIMEOUT_MS,
            definition.MAX_TIMEOUT_FOR_ANYONE_MS,
            definition.DEFAULT_TIMEOUT_MS,
            f"The time limit of a call, in milliseconds. Maximum: {definition.MAX_TIMEOUT_MS},"
            " or 90 days if anyone may call the function.",
        ),
        "input_schema": reference("input"),
        "output_schema": reference("output"),
        "function": nullable(reference("function")),
    }
    return {
        "description": description_of(definition.ToolDefinition),
        **records(properties, definition.REQUIRED),
        "if": {
            "properties": {"type": {"const": kinds.ONCHAIN.value}},
            "required": ["type"],
        },
        "then": {
            "properties": {
                "url": {"pattern": whole_match(definition.MOVE_FUNCTION)},
                "function": {"type": "object"},
            },
            "required": ["function"],
        },
        "else": {
            "properties": {"url": {"pattern": _http_url()}, "function": {"type": "null"}},
        },
        "allOf": [_time_limit()],
    }


def _http_url() -> str:
    """Return a pattern for URLs of off-chain tools. The parser also checks host and port."""
    label, host = r"[A-Za-z0-9_-]{1,63}", r"\[[^\]/?#@]+\]"
    scheme, port = r"[Hh][Tt][Tt][Pp][Ss]?", r"(?::0*[1-9][0-9]{0,4})?"
    path = rf"(?:/(?:{definition.URL_CHARACTERS.pattern})?)?"
    return whole_match(rf"{scheme}://(?:{label}(?:\.{label})*\.?|{host}){port}{path}")


def _time_limit() -> Schema:
    """Return the rule that only a function that anyone may call can have a long timeout."""
    anyone = {"properties": {"closed_by": {"const": "anyone"}}, "required": ["closed_by"]}
    return {
        "if": {"not": {"properties": {"function": anyone}, "required": ["function"]}},
        "then": {"properties": {"timeout": {"maximum": definition.MAX_TIMEOUT_MS}}},
    }


def _function() -> Schema:
    a_type = text(pattern=whole_match(move_function.TYPE), maxLength=move_function.MAX_TYPE_BYTES)
    an_object = whole_match(move_function.OF_PACKAGE, move_function.ADDRESS)
    leaders, _ = move_function.CLOSERS
    properties = {
        "witness": text(
            "The type of the witness, which proves that the module gave the answer.",
            pattern=whole_match(move_function.WITNESS),
            maxLength=move_function.MAX_TYPE_BYTES,
        ),
        "type_arguments": items(
            a_type,
            "The type arguments of the function.",
            maxItems=move_function.MAX_TYPE_ARGUMENTS,
            default=[],
        ),
        "objects": items(
            text(pattern=an_object),
            "The shared or immutable objects that follow the `Call` argument: IDs, or types such as"
            " `0x0::badge::Collection` until the package is published.",
            maxItems=move_function.MAX_OBJECTS,
            default=[],
        ),
        "gas": whole(
            0,
            move_function.MAX_GAS_MIST,
            move_function.DEFAULT_GAS_MIST,
            "The amount that the account receives that closes an invocation, in MIST.",
        ),
        "closed_by": {
            "enum": [*move_function.CLOSERS],
            "default": leaders,
            "description": "The accounts that may call the function.",
        },
    }
    assert properties.keys() == set(move_function.FIELDS)
    described = {"description": description_of(move_function.MoveFunction)}
    return described | records(properties, ["witness"])


def _input() -> Schema:
    return {
        "description": "A JSON Schema (draft 2020-12) for an object. Each property is a port.",
        "type": "object",
        "allOf": [{"$ref": DIALECT}, reference("ports")],
    }


def _output() -> Schema:
    variant = {
        "properties": {
            "type": {"const": "object"},
            "properties": {
                "minProperties": 1,
                "maxProperties": 1,
                "propertyNames": {"pattern": _PORT_NAME},
                "additionalProperties": reference("ports"),
            },
            "required": {"minItems": 1, "maxItems": 1},
        },
        "required": ["type", "properties", "required"],
    }
    branch = {"type": "object", "allOf": [_unless_reference(variant)]}
    return {
        "description": "A JSON Schema (draft 2020-12) whose `oneOf` has a branch for each variant."
        " A branch requires one property, the variant, which is an object of ports.",
        "type": "object",
        "allOf": [{"$ref": DIALECT}],
        "properties": {
            "type": {"const": "object"},
            "oneOf": {"type": "array", "minItems": 1, "items": branch},
        },
        "required": ["oneOf"],
    }


def _ports() -> Schema:
    return {
        "properties": {
            "type": {"const": "object"},
            "properties": {
                "propertyNames": {"pattern": _PORT_NAME},
                "maxProperties": MAX_PORTS,
            },
            "required": {"items": {"pattern": _PORT_NAME}, "maxItems": MAX_PORTS},
        },
        "required": ["type"],
    }


def _unless_reference(schema: Schema) -> Schema:
    """Return a rule for a subschema, which must be an object and may be a reference instead."""
    return {
        "type": "object",
        "if": {"not": {"required": ["$ref"]}},
        "then": schema,
    }
