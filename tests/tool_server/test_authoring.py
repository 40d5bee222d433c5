import json
import threading
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import jsonschema
import jsonschema_rs
import pytest
from pydantic import AwareDatetime, BaseModel, Field, field_validator

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Answer, ToolDefinition
from nexus_tools.tool_server import Call, Variant, tool

pytestmark = pytest.mark.anyio


# Many functions here are read for their signature and never use it.


class Done(Variant, name="ok"):
    value: Any = None


class Broken(Variant, name="err"):
    reason: str


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A place."""

    x: float
    y: float = 0.0


async def test_tool_is_invoked_without_a_server(add):
    assert await add.invoke({"a": 1, "b": 2}) == Answer("ok", {"result": 3})


async def test_error_variant_is_an_outcome(add):
    outcome = await add.invoke({"a": 1_000, "b": 1})
    assert outcome == Answer("err_overflow", {"reason": "more than a thousand"})


@pytest.mark.parametrize("ports", [{}, {"a": 1}, {"a": "1", "b": 2}, {"a": 1, "b": 2, "c": 3}, []])
async def test_invalid_input_is_rejected(add, ports):
    with pytest.raises(ValidationError) as caught:
        await add.invoke(ports)
    assert caught.value.code == "input_invalid"


def test_definition_follows_the_function(add):
    assert add.definition("https://tools.example.com/add").as_json() == {
        "fqn": "xyz.example.math.add@1",
        "type": "offchain",
        "url": "https://tools.example.com/add",
        "description": "Adds two integers.",
        "timeout": 10_000,
        "input_schema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
        "output_schema": {
            "type": "object",
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "ok": {
                            "type": "object",
                            "properties": {"result": {"type": "integer"}},
                            "required": ["result"],
                            "additionalProperties": False,
                        }
                    },
                    "required": ["ok"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {
                        "err_overflow": {
                            "type": "object",
                            "properties": {"reason": {"type": "string"}},
                            "required": ["reason"],
                            "additionalProperties": False,
                        }
                    },
                    "required": ["err_overflow"],
                    "additionalProperties": False,
                },
            ],
        },
    }


async def _identity(annotation, value, default=...):
    """Return the value that a port of type `annotation` receives for a JSON value."""
    seen = []
    if default is ...:

        async def probe(port) -> Done:
            seen.append(port)
            return Done()
    else:

        async def probe(port=default) -> Done:
            seen.append(port)
            return Done()

    probe.__annotations__["port"] = annotation
    await tool("xyz.example.test.probe@1")(probe).invoke({} if value is ... else {"port": value})
    return seen[0]


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, 5, 5),
        (float, 5, 5.0),
        (str, "é", "é"),
        (bool, True, True),
        (int | None, None, None),
        (list[int], [1, 2], [1, 2]),
        (dict[str, list[str]], {"a": ["b"]}, {"a": ["b"]}),
        (set[int], [1, 2], {1, 2}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (Literal["a", "b"], "b", "b"),
        (Colour, "blue", Colour.BLUE),
        (date, "2026-01-31", date(2026, 1, 31)),
        (Decimal, "0.10", Decimal("0.10")),
        (Point, {"x": 1}, Point(x=1.0, y=0.0)),
        (list[Point], [{"x": 1, "y": 2}], [Point(x=1.0, y=2.0)]),
        (Annotated[int, Field(ge=1)], 1, 1),
        (Any, {"a": [1]}, {"a": [1]}),
    ],
)
async def test_types_of_parameters_are_types_of_ports(annotation, value, expected):
    assert await _identity(annotation, value) == expected


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, 1.5),
        (int, "1"),
        (int, None),
        (Colour, "green"),
        (Literal["a"], "b"),
        (date, "tomorrow"),
        (Point, {"y": 1}),
        (Annotated[int, Field(ge=1)], 0),
        (list[int], [1, "2"]),
    ],
)
async def test_values_of_other_types_are_refused_with_a_pointer(annotation, value):
    with pytest.raises(ValidationError) as caught:
        await _identity(annotation, value)
    assert caught.value.code == "input_invalid"
    assert caught.value.details["failures"][0]["pointer"].startswith("/port")


async def test_default_replaces_a_missing_port():
    assert await _identity(int, ..., 7) == 7


@pytest.mark.parametrize("name", ["json", "copy", "schema", "model_config", "validate"])
async def test_port_may_be_named_like_a_model_method(name):
    namespace = {"Done": Done}
    exec(f"async def probe({name}: int) -> Done:\n    return Done(value={name})", namespace)
    outcome = await tool("xyz.example.test.probe@1")(namespace["probe"]).invoke({name: 3})
    assert outcome.ports == {"value": 3}


async def test_rules_of_models_beyond_the_schema_are_input_errors():
    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def is_even(cls, number: int) -> int:
            if number % 2:
                raise ValueError("it is odd")
            return number

    with pytest.raises(ValidationError) as caught:
        await _identity(Even, {"number": 3})
    [failure] = caught.value.details["failures"]
    assert failure == {"pointer": "/port/number", "message": "Value error, it is odd"}


async def test_sync_function_runs_in_another_thread():
    @tool("xyz.example.test.thread@1")
    def where() -> Done:
        return Done(value=threading.get_ident())

    outcome = await where.invoke({})
    assert outcome.ports["value"] != threading.get_ident()


async def test_call_parameter_is_not_a_port():
    seen = []

    @tool("xyz.example.test.call@1")
    async def probe(a: int, call: Call) -> Done:
        seen.append(call)
        return Done()

    await probe.invoke({"a": 1}, Call(invocation="0x1", max_outcome_bytes=10))
    assert list(probe.input_schema["properties"]) == ["a"]
    assert seen == [Call(invocation="0x1", max_outcome_bytes=10)]


async def test_single_variant_is_enough():
    @tool("xyz.example.test.one@1")
    async def one() -> Annotated[Done, "documented"]:
        return Done(value=[1])

    assert await one.invoke({}) == Answer("ok", {"value": [1]})


@pytest.mark.parametrize(
    ("annotation", "value", "is_said"),
    [
        (datetime, datetime(2026, 1, 1), False),  # noqa: DTZ001 - that is what is asked
        (datetime, datetime(2026, 1, 1, tzinfo=UTC), False),
        (time, time(12), False),
        (AwareDatetime, datetime(2026, 1, 1, tzinfo=UTC), True),
        (date, date(2026, 1, 1), True),
    ],
)
async def test_output_schema_has_correct_formats(annotation, value, is_said):
    kind = type("At", (Variant,), {"__annotations__": {"at": annotation}}, name="ok")

    @tool("xyz.example.clock.now@1")
    def now() -> kind:
        """Now."""
        return kind(at=value)

    schema = now.definition("https://tools.example.com/now").output_schema
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    validator.validate((await now.invoke({})).as_json())
    assert ("format" in json.dumps(schema)) == is_said


async def test_outputs_are_written_as_json():
    class When(Variant, name="ok"):
        day: date
        colour: Colour
        points: list[Point]

    @tool("xyz.example.test.when@1")
    async def when() -> When:
        return When(day=date(2026, 1, 31), colour=Colour.RED, points=[Point(x=1)])

    outcome = await when.invoke({})
    assert json.loads(json.dumps(outcome.ports)) == {
        "day": "2026-01-31",
        "colour": "red",
        "points": [{"x": 1.0, "y": 0.0}],
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
async def test_output_is_rejected_if_not_json(value):
    @tool("xyz.example.test.bad@1")
    async def bad() -> Done:
        return Done(value=value)

    with pytest.raises(ValidationError) as caught:
        await bad.invoke({})
    assert caught.value.code == "output_invalid"


def _nesting(lists: int):
    @tool("xyz.example.test.deep@1")
    async def deep() -> Done:
        return Done(value=json.loads("[" * lists + "]" * lists))

    return deep


# Around the value there are the variant's object and that of its ports.
async def test_output_may_nest_64_levels():
    assert (await _nesting(64 - 1).invoke({})).variant == "ok"


async def test_output_with_more_than_64_levels_is_rejected():
    with pytest.raises(ValidationError, match="nests deeper than 64 levels"):
        await _nesting(64).invoke({})


@pytest.mark.parametrize("returned", [None, {"ok": {}}, Broken(reason="x"), 3])
async def test_undeclared_variant_is_rejected(returned):
    @tool("xyz.example.test.bad@1")
    async def bad() -> Done:
        return returned

    with pytest.raises(ValidationError, match="bad must return Done, but returned") as caught:
        await bad.invoke({})
    assert caught.value.code == "output_invalid"


async def test_variant_that_violates_its_types_is_rejected():
    @tool("xyz.example.test.bad@1")
    async def bad() -> Broken:
        return Broken.model_construct(reason=5)

    with pytest.raises(ValidationError) as caught:
        await bad.invoke({})
    assert caught.value.details["failures"][0]["pointer"] == "/err/reason"


def _rejection(function, **options):
    with pytest.raises(ValidationError) as caught:
        tool(options.pop("fqn", "xyz.example.test.bad@1"), **options)(function)
    return caught.value


async def _no_result(a: int):
    pass


async def _none(a: int) -> None:
    pass


async def _plain(a: int) -> int:
    return a


async def _partly(a: int) -> Done | int:
    return a


async def _optional(a: int) -> Done | None:
    return None


async def _unannotated(a) -> Done:
    return Done()


async def _variadic(*numbers: int) -> Done:
    return Done()


async def _keywords(**ports: int) -> Done:
    return Done()


async def _positional(a: int, /) -> Done:
    return Done()


async def _capital(theNumber: int) -> Done:  # noqa: N803 - the name is what is wrong
    return Done()


async def _unknown(a: "Nowhere") -> Done:  # noqa: F821 - as above
    return Done()


async def _no_schema(a: threading.Lock) -> Done:
    return Done()


async def _two_calls(a: Call, b: Call) -> Done:
    return Done()


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_no_result, "not a Variant"),
        (_none, "nothing"),
        (_plain, "int, which is not a Variant"),
        (_partly, "int, which is not a Variant"),
        (_optional, "nothing"),
        (_unannotated, "a has no annotation"),
        (_variadic, "numbers"),
        (_keywords, "ports"),
        (_positional, "passed by name"),
        (_capital, "theNumber"),
        (_unknown, "Nowhere"),
        (_two_calls, "a, b"),
    ],
)
def test_tool_rejects_invalid_function(function, says):
    error = _rejection(function)
    assert error.code == "tool_invalid"
    assert says in error.message
    assert "xyz.example.test.bad@1" in error.message


def test_tool_rejects_type_without_schema():
    assert _rejection(_no_schema).code == "tool_invalid"


def test_variant_without_name_is_rejected():
    class Nameless(Variant):
        pass

    async def function() -> Nameless:
        return Nameless()

    assert "Nameless has no name" in _rejection(function).message


def test_duplicate_variant_name_is_rejected():
    class Also(Variant, name="ok"):
        pass

    async def function() -> Done | Also:
        return Done()

    assert "'ok'" in _rejection(function).message


def test_variant_name_must_be_snake_case():
    class Bad(Variant, name="NotOk"):
        pass

    async def function() -> Bad:
        return Bad()

    assert "'NotOk' is not a valid variant name" in _rejection(function).message


@pytest.mark.parametrize("timeout_ms", [0, 999, 120_001])
def test_timeout_out_of_range_is_rejected(timeout_ms):
    async def function() -> Done:
        return Done()

    assert "timeout" in _rejection(function, timeout_ms=timeout_ms).message


def test_malformed_fqn_is_rejected():
    async def function() -> Done:
        return Done()

    assert _rejection(function, fqn="add").code == "fqn_invalid"


def test_backtracking_pattern_is_rejected():
    async def function(a: Annotated[str, Field(pattern="^a{1,3}$")]) -> Done:
        return Done()

    tool("xyz.example.test.good@1")(function)

    async def ahead(a: Annotated[str, Field(json_schema_extra={"pattern": "(?=a)b"})]) -> Done:
        return Done()

    assert "linear-time" in _rejection(ahead).message


def test_recursive_models_and_shared_models_have_valid_schemas():
    @tool("xyz.example.test.tree@1")
    async def walk(tree: "Tree", other: "Tree | None" = None) -> Done | Broken:
        """Walks."""
        return Done()

    definition = walk.definition("http://localhost").as_json()
    jsonschema.Draft202012Validator.check_schema(definition["input_schema"])
    jsonschema.Draft202012Validator.check_schema(definition["output_schema"])
    assert ToolDefinition.parse(definition).as_json() == definition


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


@pytest.mark.parametrize(
    ("health", "expected"),
    [
        (None, {}),
        (lambda: True, {"health": True}),
        (lambda: {"database": True, "model": False}, {"database": True, "model": False}),
    ],
)
async def test_health_returns_one_or_several_booleans(health, expected):
    @tool("xyz.example.test.health@1", health=health)
    async def function() -> Done:
        return Done()

    assert await function.check_health() == expected


async def test_health_may_be_async():
    async def health():
        return False

    @tool("xyz.example.test.health@1", health=health)
    async def function() -> Done:
        return Done()

    assert await function.check_health() == {"health": False}


def test_tool_rejects_look_ahead_and_names_the_parameter():
    with pytest.raises(ValidationError) as caught:

        @tool("xyz.example.text.code@1")
        def check(first: int, code: Annotated[str, Field(pattern=r"^(?=.*\\d)\\w+$")]) -> Done:
            """Checks a code."""

    assert caught.value.code == "tool_invalid"
    assert "the annotation of code is not valid: look-around" in caught.value.message
    assert "port_" not in caught.value.message
    assert "\n" not in caught.value.message
