"""Tools in Python: functions, objects of `Tool` classes, docks, and what a `Pocket` was given."""

import json

import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialKind

FUNCTIONS = '''
from typing import Literal, Optional
from pydantic import BaseModel
from hyperpocket.auth import AuthProvider
from hyperpocket.tool import ToolAuth, from_func, function_tool

class Point(BaseModel):
    x: int
    label: Literal["a", "b"] = "a"

@function_tool
def add(a: int, b: int = 2):
    """Add two numbers.

    Args:
        a (int): the first
        b (int): the second
    """
    print("adding")
    return {"sum": a + b}

@function_tool
async def move(point: Point, tags: Optional[list[str]] = None):
    """Move.

    :param point: where from
    """
    return [Point(x=point.x + 1), tags]

@function_tool(auth_provider=AuthProvider.GITHUB, scopes=["repo"], tool_vars={"REGION": "eu"})
def given(**kwargs):
    """What it is given."""
    return {name: value for name, value in kwargs.items()} | {"length": len(kwargs["GITHUB_TOKEN"])}

def plain(number: int) -> int:
    raise ValueError(f"{number} is too plain")

renamed = from_func(plain, name="renamed", description="Another name.")

@function_tool
def silent(x: int = 0):
    return None
'''

CLASSES = """
from hyperpocket.tool import Tool, ToolAuth

SCHEMA = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}

class Greeter(Tool):
    @classmethod
    def create(cls) -> "Greeter":
        return cls(name="greet", description="Greets.", argument_json_schema=SCHEMA)

    def invoke(self, body, **kwargs):
        return {"hello": body["who"], "thread": kwargs["thread_id"], "profile": kwargs["profile"]}

class Waiting(Tool):
    name: str = "waiting"
    description: str = "Waits."

    def invoke(self, **kwargs):
        raise NotImplementedError

    async def ainvoke(self, **kwargs):
        return sorted(kwargs)

class Needy(Tool):
    def invoke(self, **kwargs):
        return 1

class Several(Tool):
    number: int

    def invoke(self, body):
        return self.number

one = Several(name="one", description="", number=1)
two = Several(name="two", description="", number=20) | (lambda value: value + 1) | str
"""

DOCK = """
def greet(name: str) -> str:
    return "hello " + name

class Model:
    @staticmethod
    def model_json_schema():
        return {"type": "object", "properties": {"n": {"type": "integer"}}}

def marked(**kwargs):
    '''Marked.'''
    return {name: kwargs[name] for name in ("n", "REGION")}

marked.__model__ = Model
marked.__auth__ = {"auth_provider": "slack", "scopes": ["chat:write"]}
marked.__vars__ = {"REGION": "eu"}

def initialize_dock(**_):
    return [greet, marked]
"""


@pytest.fixture
def invoked(found):
    """Invokes a tool of a module by its name; gives its output."""

    async def invoked(place, name, ports, **options):
        tools = {tool.declaration.name: tool for tool in (await found(place, **options)).tools}
        return (await tools[name].invoke(ports)).as_json()

    return invoked


async def test_functions_are_tools_with_their_signature(module, found):
    discovery = await found(module(FUNCTIONS))
    tools = {tool.declaration.name: tool for tool in discovery.tools}
    assert sorted(tools) == ["add", "given", "move", "renamed", "silent"]
    add = tools["add"]
    assert str(add.fqn) == "xyz.example.add@1"
    assert add.description.startswith("Add two numbers.")
    assert add.input_schema["required"] == ["a"]
    assert add.input_schema["properties"]["b"]["default"] == 2
    assert add.input_schema["properties"]["a"]["description"] == "the first"
    assert tools["move"].input_schema["properties"]["point"]["description"] == "where from"
    assert (tools["renamed"].description, tools["silent"].description) == (
        "Another name.",
        "silent",
    )


async def test_the_value_of_a_function_is_the_result_and_not_its_text(module, invoked):
    output = await invoked(module(FUNCTIONS), "add", {"a": 1})
    assert output == {"ok": {"result": {"sum": 3}}}


async def test_an_async_function_is_awaited_and_has_its_own_types(module, invoked):
    output = await invoked(module(FUNCTIONS), "move", {"point": {"x": 1, "label": "b"}})
    assert output == {"ok": {"result": [{"x": 2, "label": "a"}, None]}}


async def test_the_exception_of_a_function_is_an_error_with_its_type(module, invoked):
    output = await invoked(module(FUNCTIONS), "renamed", {"number": 7})
    assert output["err"]["type"] == "ValueError"
    assert output["err"]["reason"] == "7 is too plain"
    assert "exit_code" not in output["err"]


async def test_other_names_get_credentials_variables_and_the_session(module, invoked, store):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "ghp-0123456789"))
    output = await invoked(module(FUNCTIONS), "given", {}, credentials=store)
    assert output["ok"]["result"] == {
        "GITHUB_TOKEN": "[redacted]",
        "REGION": "eu",
        "thread_id": "default",
        "profile": "default",
        "length": 14,
    }


async def test_the_operator_overrides_variables(module, invoked, store):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "ghp-0123456789"))
    options = {"credentials": store, "variables": {"given": {"REGION": "us"}}}
    output = await invoked(module(FUNCTIONS), "given", {}, **options)
    assert output["ok"]["result"]["REGION"] == "us"


async def test_a_function_with_auth_is_not_run_without_credentials(module, invoked):
    required = (await invoked(module(FUNCTIONS), "given", {}))["auth_required"]
    assert (required["provider"], required["scopes"]) == ("github", ["repo"])


async def test_a_tool_class_is_made_by_its_factory_method(module, invoked):
    output = await invoked(module(CLASSES), "greet", {"who": "you"})
    assert output["ok"]["result"] == {"hello": "you", "thread": "default", "profile": "default"}


async def test_a_tool_gets_the_profile_and_the_thread_of_the_call(module, invoked):
    ports = {"body": {"who": "you"}, "profile": "work", "thread_id": "t-1"}
    output = await invoked(module(CLASSES), "greet", ports, profile=True)
    assert output["ok"]["result"] == {"hello": "you", "thread": "t-1", "profile": "work"}


async def test_a_tool_class_with_defaults_is_made_without_arguments(module, invoked):
    output = await invoked(module(CLASSES), "waiting", {})
    assert output == {"ok": {"result": ["body", "envs", "profile", "thread_id"]}}


async def test_a_tool_class_that_needs_arguments_is_refused(module, found):
    [refusal] = (await found(module(CLASSES))).refused
    assert refusal.source.endswith("#Needy")
    assert "no factory method, and no default for name, description" in refusal.reason


async def test_objects_of_a_module_are_tools_and_their_class_is_not_made_again(module, found):
    names = [tool.declaration.name for tool in (await found(module(CLASSES))).tools]
    assert names == ["one", "two", "greet", "waiting"]


async def test_results_go_through_the_postprocessings(module, invoked):
    assert await invoked(module(CLASSES), "two", {}) == {"ok": {"result": "21"}}


async def test_a_dock_gives_its_functions(module, found, invoked):
    place = module(DOCK)
    [marked, greet] = (await found(place)).tools
    assert greet.declaration.auth is None
    assert marked.declaration.auth.provider == "slack"
    assert list(marked.input_schema["properties"]) == ["n"]
    assert await invoked(place, "greet", {"name": "you"}) == {"ok": {"result": "hello you"}}


async def test_a_function_of_a_dock_has_its_model_auth_and_variables(module, invoked, store):
    store.put(CredentialKey("slack"), Credential(CredentialKind.TOKEN, "xoxb-12345"))
    output = await invoked(module(DOCK), "marked", {"n": 4}, credentials=store)
    assert output == {"ok": {"result": {"n": 4, "REGION": "eu"}}}


async def test_a_package_has_the_tools_of_its_modules(module, found):
    place = module("", "package/__init__.py").parent
    module("from hyperpocket.tool import function_tool\n", "package/helping.py")
    code = (
        "from hyperpocket.tool import function_tool\nfrom .helping import function_tool as make\n"
    )
    module(code + "@make\ndef inner(a: int):\n    return a\n", "package/inner.py")
    module("from .inner import inner\n", "package/__init__.py")
    (place / "marker.py").write_text("import hyperpocket\n")
    [tool] = (await found(place)).tools
    assert tool.declaration.name == "inner"


async def test_what_a_pocket_is_given_are_tools_and_no_server_is_started(module, packaged, found):
    folder = packaged({"main.sh": "cat"})
    code = f"""
from hyperpocket import Pocket
from hyperpocket.tool import from_git, from_local

def one(a: int):
    return a

pocket = Pocket(tools=[one, {str(folder)!r}, from_git("https://example.com/tools", "main", "x")])
pocket.load_tools(from_local({str(folder.parent / "missing")!r}))
"""
    discovery = await found(module(code))
    assert [tool.declaration.name for tool in discovery.tools] == ["one", "shout"]
    reasons = [refusal.reason for refusal in discovery.refused]
    assert "asks for the packaged tool https://example.com/tools/tree/main/x" in reasons[0]
    assert "missing" in reasons[1]


async def test_a_module_that_breaks_is_refused_with_its_exception(module, found):
    discovery = await found(module("import hyperpocket\nraise KeyError('SLACK')"))
    [refusal] = discovery.refused
    assert refusal.reason == "the module cannot be imported: KeyError: 'SLACK'"


async def test_a_function_without_annotations_is_refused_and_its_neighbours_are_not(module, found):
    code = """
import hyperpocket
def bad(a): ...
def good(a: int): ...
tools = [bad, good]
"""
    discovery = await found(module(code))
    assert [tool.declaration.name for tool in discovery.tools] == ["good"]
    assert "the parameter a of bad has no annotation" in discovery.refused[0].reason


async def test_two_tools_of_one_name_are_both_refused(module, found):
    code = """
from hyperpocket.tool import from_func
def same(a: int): ...
one = from_func(same)
two = from_func(same)
"""
    discovery = await found(module(code))
    assert discovery.tools == ()
    assert len(discovery.refused) == 2


async def test_the_operators_environment_is_not_the_modules(module, invoked):
    code = """
import os
from hyperpocket.tool import function_tool
@function_tool
def environment():
    return dict(os.environ)
"""
    output = json.dumps(await invoked(module(code), "environment", {}))
    assert "not-for-tools" not in output


async def test_what_is_no_json_becomes_json(module, invoked):
    code = """
import datetime
from hyperpocket.tool import function_tool
@function_tool
def odd():
    return {1: (datetime.date(2026, 1, 2), {3}, b"abc", object)}
"""
    output = await invoked(module(code), "odd", {})
    assert output["ok"]["result"]["1"] == ["2026-01-02", [3], "YWJj", "<class 'object'>"]


async def test_what_cannot_become_json_is_an_error(module, invoked):
    code = """
from hyperpocket.tool import function_tool
@function_tool
def odd():
    return [float("nan")]
"""
    output = await invoked(module(code), "odd", {})
    assert output["err"]["type"] == "ValueError"


async def test_a_tool_that_ends_its_process_is_an_error(module, invoked):
    code = """
import os
from hyperpocket.tool import function_tool
@function_tool
def gone():
    os._exit(7)
"""
    output = await invoked(module(code), "gone", {})
    assert output["err"]["exit_code"] == 7


async def test_a_health_check_sees_that_the_module_is_gone(module, found):
    place = module("from hyperpocket.tool import from_func\ndef f(a: int): ...\nt = from_func(f)")
    [tool] = (await found(place)).tools
    assert await tool.check_health() == {"present": True}
    place.unlink()
    assert await tool.check_health() == {"present": False}
