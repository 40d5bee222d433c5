"""The rules of the systems that receive exported tools, as a checker for each format.

Each rule comes from the receiver's reference or from its error messages, and is independent of the
export. The sources are:

* OpenAI's function calling and structured outputs;
* Anthropic's Messages API;
* the tools of MCP 2025-11-25, and the checks of its clients;
* Gemini's `FunctionDeclaration` and `Schema`;
* OpenAPI 3.1.
"""

import re

from jsonschema import Draft202012Validator

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_STRICT_KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const"),
    *("$ref", "$defs", "title", "description", "format", "pattern", "multipleOf", "minimum"),
    *("maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
}
_GEMINI_KEYWORDS = {
    *("type", "format", "title", "description", "nullable", "enum", "items", "maxItems"),
    *("minItems", "properties", "required", "minProperties", "maxProperties", "minLength"),
    *("maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default", "minimum"),
    "maximum",
}
_BY_NAME = ("properties", "patternProperties", "$defs", "dependentSchemas")
_IN_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_ALONE = ("items", "contains", "not", "if", "then", "else", "additionalProperties")


def subschemas(schema, place=""):
    """Yield every subschema that is an object, with its location."""
    yield place, schema
    inner = [(f"{key}/{n}", s) for key in _BY_NAME for n, s in schema.get(key, {}).items()]
    inner += [(f"{key}/{i}", s) for key in _IN_LISTS for i, s in enumerate(schema.get(key, ()))]
    inner += [(key, schema[key]) for key in _ALONE if key in schema]
    for key, members in inner:
        if isinstance(members, dict):
            yield from subschemas(members, f"{place}/{key}")


def _has_type(schema, kind):
    types = schema.get("type", ())
    return kind == types or (isinstance(types, list) and kind in types)


def _complete(schema):
    for place, subschema in subschemas(schema):
        if _has_type(subschema, "object") and "properties" not in subschema:
            yield f"{place}: object schema missing properties"
        if _has_type(subschema, "array") and "items" not in subschema:
            yield f"{place}: array schema missing items"


def _references(schema, root):
    for place, subschema in subschemas(schema):
        steps = subschema.get("$ref", "#").removeprefix("#").split("/")[1:]
        target = root
        for step in steps:
            name = step.replace("~1", "/").replace("~0", "~").replace("%25", "%")
            target = target[int(name)] if isinstance(target, list) else target.get(name)
            if target is None:
                yield f"{place}: {subschema['$ref']} leads nowhere"
                break


def _valid(schema):
    yield from (error.message for error in _errors(schema))
    if schema.get("type") != "object":
        yield "the root is not of type object"


def _errors(schema):
    return Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)


def _openai_function(function):
    schema = function["parameters"]
    if not _NAME.fullmatch(function["name"]):
        yield "the name"
    if len(function["description"]) > 1_024:
        yield "the description is too long"
    yield from _valid(schema)
    yield from _complete(schema)
    yield from _references(schema, schema)
    for keyword in {"oneOf", "anyOf", "allOf", "enum", "not"} & schema.keys():
        yield f"{keyword} at the root"
    if function.get("strict"):
        yield from _strict(schema)


def _strict(schema):
    for place, subschema in subschemas(schema):
        for keyword in subschema.keys() - _STRICT_KEYWORDS:
            yield f"{place}: {keyword} is not permitted"
        if not {"type", "anyOf", "$ref"} & subschema.keys():
            yield f"{place}: schema must have a type"
        if _has_type(subschema, "object"):
            if subschema.get("additionalProperties") is not False:
                yield f"{place}: additionalProperties is required to be false"
            if {*subschema.get("required", ())} != {*subschema["properties"]}:
                yield f"{place}: required has to include every property"


def openai(document):
    for entry in document:
        if entry.keys() != {"type", "function"}:
            yield "the entry of Chat Completions"
        yield from _openai_function(entry["function"])


def openai_responses(document):
    for entry in document:
        if entry["type"] != "function" or not isinstance(entry["strict"], bool):
            yield "the entry of the Responses API"
        yield from _openai_function(entry)


def anthropic(document):
    for tool in document:
        schema = tool["input_schema"]
        if not _NAME.fullmatch(tool["name"]):
            yield "the name"
        yield from _valid(schema)
        yield from _references(schema, schema)
        for keyword in {"oneOf", "anyOf", "allOf"} & schema.keys():
            yield f"{keyword} at the root"
        for name in schema.get("properties", ()):
            if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
                yield f"the key {name}"


def mcp(document):
    for tool in document["tools"]:
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", tool["name"]):
            yield "the name"
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            yield from _valid(schema)
            yield from _references(schema, schema)
        yield from _complete(tool["inputSchema"])


def gemini(document):
    names = [subschema["name"] for subschema in document["functionDeclarations"]]
    if len(names) != len({*names}):
        yield "a name stands twice"
    for function in document["functionDeclarations"]:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", function["name"]):
            yield "the name"
        if not function["description"]:
            yield "the description is empty"
        if {"parameters", "parametersJsonSchema"} <= function.keys():
            yield "parameters in two forms"
        if "parameters" in function:
            yield from _gemini_schema(function["parameters"])
        if "parametersJsonSchema" in function:
            yield from _valid(function["parametersJsonSchema"])


def _gemini_schema(schema):
    if schema["type"] != "object":
        yield "the root is not of type object"
    for place, subschema in subschemas(schema):
        for keyword in subschema.keys() - _GEMINI_KEYWORDS:
            yield f"{place}: unknown name {keyword}"
        if "anyOf" in subschema and len(subschema) > 1:
            yield f"{place}: any_of must be the only field set"
        if "anyOf" not in subschema:
            yield from _gemini_value(subschema, place)


def _gemini_value(subschema, place):
    if not isinstance(subschema.get("type"), str):
        yield f"{place}: the type is unspecified"
    if _has_type(subschema, "object") and not subschema.get("properties"):
        yield f"{place}: properties should be non-empty for OBJECT type"
    if _has_type(subschema, "array") and "items" not in subschema:
        yield f"{place}: items: missing field"
    if {*subschema.get("required", ())} - {*subschema.get("properties", ())}:
        yield f"{place}: a required property is not defined"
    if "enum" in subschema and (
        subschema["type"] != "string" or not all(map(_is_text, subschema["enum"]))
    ):
        yield f"{place}: enum is only allowed for STRING type, and not empty"
    if subschema.get("type") == "string" and subschema.get("format", "enum") not in (
        "enum",
        "date-time",
    ):
        yield f"{place}: the format of a STRING"
    for name in subschema.get("properties", ()):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name):
            yield f"{place}: the name {name}"


def _is_text(value):
    return isinstance(value, str) and value != ""


def openapi(document):
    operations = [path["post"] for path in document["paths"].values()]
    ids = [operation["operationId"] for operation in operations]
    if len(ids) != len({*ids}):
        yield "an operationId stands twice"
    for key, schema in document["components"]["schemas"].items():
        if not re.fullmatch(r"[a-zA-Z0-9._-]+", key):
            yield f"the component {key}"
        yield from (error.message for error in _errors(schema))
        yield from _references(schema, document)


CHECKERS = {
    "openai": openai,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "mcp": mcp,
    "gemini": gemini,
    "openapi": openapi,
}


def problems(system, document):
    """Return the reasons why a receiver would reject the document."""
    return list(CHECKERS[system](document))
