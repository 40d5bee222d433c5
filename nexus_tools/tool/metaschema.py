"""Whether a schema is one at all: the draft 2020-12 metaschema, told in words for people."""

from itertools import islice
from typing import Any

from nexus_tools.tool.mismatch import MAX_MISMATCHES, Mismatch
from nexus_tools.tool.strict_json import pointer_of


def metaschema_mismatches(schema: dict[str, Any]) -> list[Mismatch]:
    """Where `schema` breaks the metaschema; empty if it is valid.

    jsonschema-rs decides, in microseconds; jsonschema then describes. A schema that names another
    dialect is measured by draft 2020-12 all the same.
    """
    import jsonschema_rs  # noqa: PLC0415 - native code, needed only where a schema is checked

    if not isinstance(schema.get("$schema", ""), str):
        return [Mismatch("/$schema", "the name of a dialect is a string")]
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        jsonschema_rs.meta.validate(plain)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        return _described(plain) or [Mismatch("", str(error).partition("\n")[0])]
    return []


def _described(schema: dict[str, Any]) -> list[Mismatch]:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs 0.1 s, needed on errors

    errors = Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)
    mismatches = [
        Mismatch(pointer_of(list(error.absolute_path)), error.message)
        for error in islice(errors, MAX_MISMATCHES)
    ]
    return sorted(mismatches, key=lambda mismatch: mismatch.pointer)
