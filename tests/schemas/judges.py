"""The verdicts on documents: of two validators by the schema, and of the program that reads them.

Documents are valid examples of this repository and mutations of these: a value is replaced or
removed, or an unknown name is added.
"""

import copy
import json
from dataclasses import dataclass

import jsonschema
import jsonschema_rs

from nexus_tools.cli.schema import file_schema
from nexus_tools.errors import NexusError

VALUES = (None, True, 0, 1, -1, 1.5, "", "x", "0x2", "a.b.c@1", [], ["x"], {}, {"a": 1})


@dataclass(frozen=True)
class Verdict:
    """The verdicts of the schema and the reader on a document. `reason` is the reader's error."""

    document: object
    by_schema: bool
    reason: str | None

    @property
    def by_reader(self):
        return self.reason is None


class Judge:
    """The schema of a kind of file, and the function that reads such a file or raises."""

    def __init__(self, name, read):
        schema = file_schema(name)
        self._read = read
        self._rust = jsonschema_rs.Draft202012Validator(schema)
        self._python = jsonschema.Draft202012Validator(schema)

    def validate(self, document):
        """Return the verdict of both validators, which must agree."""
        verdict = self._rust.is_valid(document)
        assert self._python.is_valid(document) is verdict, document
        return verdict

    def judge(self, document, *, twice=True):
        """Return all verdicts. Without `twice`, only the faster of the two validators is asked."""
        by_schema = self.validate(document) if twice else self._rust.is_valid(document)
        return Verdict(document, by_schema, self.reason(document))

    def reason(self, document):
        """Return the error with which the reader rejects a document, or None."""
        try:
            self._read(document)
        except NexusError as error:
            details = error.details.get("failures") or error.details.get("violations") or ()
            return "; ".join([f"{error.code}: {error.message}", *map(json.dumps, details)])
        return None


def compare(judge, base, is_unstated, values=VALUES, every=20):
    """Compare the verdicts on the mutations of a valid document.

    Each document that the schema rejects must be rejected by the reader. If only the reader rejects
    a document, the reason must be a rule that the schema does not state. Return the numbers of
    documents that both accept and that both reject.
    """
    verdict = judge.judge(base)
    assert verdict.by_schema, verdict
    assert verdict.by_reader, verdict
    accepted = rejected = 0
    for number, document in enumerate(mutations(base, values)):
        verdict = judge.judge(document, twice=number % every == 0)
        accepted += verdict.by_schema and verdict.by_reader
        rejected += not (verdict.by_schema or verdict.by_reader)
        assert verdict.by_schema or not verdict.by_reader, verdict
        assert verdict.by_schema == verdict.by_reader or is_unstated(verdict.reason), verdict
    return accepted, rejected


def paths(value, path=()):
    """Yield the path of each value inside a document."""
    yield path
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(member, (*path, key))


def replaced(document, path, change):
    """Return a copy of a document after `change(container, key)`."""
    copied = {"": copy.deepcopy(document)}
    container, key = copied, ""
    for step in path:
        container, key = container[key], step
    change(container, key)
    return copied[""]


def mutations(document, values=VALUES):
    """Yield documents that differ from a document in one value."""
    for path in paths(document):
        found = document
        for step in path:
            found = found[step]
        for value in values:
            if value != found:
                yield replaced(document, path, lambda inner, key, to=value: _put(inner, key, to))
        if path:
            yield replaced(document, path, lambda inner, key: inner.pop(key))
        if isinstance(found, dict):
            yield replaced(document, path, lambda inner, key: inner[key].update(unknown=1))
        if isinstance(found, list) and found:
            yield replaced(document, path, lambda inner, key: inner[key].append(inner[key][0]))


def _put(container, key, value):
    container[key] = value


def with_change(document, change):
    """Return a copy of a document; `change` is a dict that is merged into it, level by level."""
    if not (isinstance(change, dict) and isinstance(document, dict)):
        return copy.deepcopy(change)
    merged = copy.deepcopy(document)
    for key, value in change.items():
        merged[key] = with_change(merged.get(key), value)
    return merged
