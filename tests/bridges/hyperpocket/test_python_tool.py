"""Tools in Python: functions, objects of `Tool` classes, docks, and the tools of a `Pocket`."""

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
def invoke_tool(discover_tools):
    """Return a function that invokes a tool of a module by its name."""

    async def invoke_tool(place, name, ports, **options):
        tools = {
            tool.declaration.name: tool for tool in (await discover_tools(place, **options)).tools
        }
        return (await tools[name].invoke(ports)).as_json()

    return invoke_tool


async def test_functions_are_tools_with_their_signature(write_module, discover_tools):
    discovery = await discover_tools(write_module(FUNCTIONS))
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


async def test_function_result_is_its_value_not_its_text(write_module, invoke_tool):
    output = await invoke_tool(write_module(FUNCTIONS), "add", {"a": 1})
    assert output == {"ok": {"result": {"sum": 3}}}


async def test_async_function_is_awaited_with_its_own_types(write_module, invoke_tool):
    output = await invoke_tool(write_module(FUNCTIONS), "move", {"point": {"x": 1, "label": "b"}})
    assert output == {"ok": {"result": [{"x": 2, "label": "a"}, None]}}


async def test_function_exception_is_an_error_with_its_type(write_module, invoke_tool):
    output = await invoke_tool(write_module(FUNCTIONS), "renamed", {"number": 7})
    assert output["err"]["type"] == "ValueError"
    assert output["err"]["reason"] == "7 is too plain"
    assert "exit_code" not in output["err"]


async def test_keyword_arguments_get_credentials_variables_and_session(
    write_module, invoke_tool, store
):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "ghp-0123456789"))
    output = await invoke_tool(write_module(FUNCTIONS), "given", {}, credentials=store)
    assert output["ok"]["result"] == {
        "GITHUB_TOKEN": "[redacted]",
        "REGION": "eu",
        "thread_id": "default",
        "profile": "default",
        "length": 14,
    }


async def test_operator_overrides_variables(write_module, invoke_tool, store):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "ghp-0123456789"))
    options = {"credentials": store, "variables": {"given": {"REGION": "us"}}}
    output = await invoke_tool(write_module(FUNCTIONS), "given", {}, **options)
    assert output["ok"]["result"]["REGION"] == "us"


async def test_function_with_auth_does_not_run_without_credentials(write_module, invoke_tool):
    required = (await invoke_tool(write_module(FUNCTIONS), "given", {}))["auth_required"]
    assert (required["provider"], required["scopes"]) == ("github", ["repo"])


async def test_tool_class_is_created_by_its_factory_method(write_module, invoke_tool):
    output = await invoke_tool(write_module(CLASSES), "greet", {"who": "you"})
    assert output["ok"]["result"] == {"hello": "you", "thread": "default", "profile": "default"}


async def test_tool_gets_the_profile_and_thread_of_the_call(write_module, invoke_tool):
    ports = {"body": {"who": "you"}, "profile": "work", "thread_id": "t-1"}
    output = await invoke_tool(write_module(CLASSES), "greet", ports, profile=True)
    assert output["ok"]["result"] == {"hello": "you", "thread": "t-1", "profile": "work"}


async def test_tool_class_with_defaults_is_created_without_arguments(write_module, invoke_tool):
    output = await invoke_tool(write_module(CLASSES), "waiting", {})
    assert output == {"ok": {"result": ["body", "envs", "profile", "thread_id"]}}


async def test_tool_class_with_required_arguments_is_refused(write_module, discover_tools):
    [refusal] = (await discover_tools(write_module(CLASSES))).rejected
    assert refusal.source.endswith("#Needy")
    assert "neither a factory method nor a default for name, description" in refusal.reason


async def test_tool_objects_are_used_and_their_class_is_not_created_again(
    write_module, discover_tools
):
    names = [tool.declaration.name for tool in (await discover_tools(write_module(CLASSES))).tools]
    assert names == ["one", "two", "greet", "waiting"]


async def test_results_pass_through_the_postprocessings(write_module, invoke_tool):
    assert await invoke_tool(write_module(CLASSES), "two", {}) == {"ok": {"result": "21"}}


async def test_dock_returns_its_functions(write_module, discover_tools, invoke_tool):
    place = write_module(DOCK)
    [marked, greet] = (await discover_tools(place)).tools
    assert greet.declaration.auth is None
    assert marked.declaration.auth.provider == "slack"
    assert list(marked.input_schema["properties"]) == ["n"]
    assert await invoke_tool(place, "greet", {"name": "you"}) == {"ok": {"result": "hello you"}}


async def test_dock_function_has_its_model_auth_and_variables(write_module, invoke_tool, store):
    store.put(CredentialKey("slack"), Credential(CredentialKind.TOKEN, "xoxb-12345"))
    output = await invoke_tool(write_module(DOCK), "marked", {"n": 4}, credentials=store)
    assert output == {"ok": {"result": {"n": 4, "REGION": "eu"}}}


async def test_package_has_the_tools_of_its_modules(write_module, discover_tools):
    place = write_module("", "package/__init__.py").parent
    write_module("from hyperpocket.tool import function_tool\n", "package/helping.py")
    code = (
        "from hyperpocket.tool import function_tool\nfrom .helping import function_tool as make\n"
    )
    write_module(code + "@make\ndef inner(a: int):\n    return a\n", "package/inner.py")
    write_module("from .inner import inner\n", "package/__init__.py")
    (place / "marker.py").write_text("import hyperpocket\n")
    [tool] = (await discover_tools(place)).tools
    assert tool.declaration.name == "inner"


async def test_pocket_tools_are_found_and_no_server_starts(
    write_module, write_packaged, discover_tools
):
    folder = write_packaged({"main.sh": "cat"})
    code = f"""
from hyperpocket import Pocket
from hyperpocket.tool import from_git, from_local

def one(a: int):
    return a

pocket = Pocket(tools=[one, {str(folder)!r}, from_git("https://example.com/tools", "main", "x")])
pocket.load_tools(from_local({str(folder.parent / "missing")!r}))
"""
    discovery = await discover_tools(write_module(code))
    assert [tool.declaration.name for tool in discovery.tools] == ["one", "shout"]
    reasons = [refusal.reason for refusal in discovery.rejected]
    assert "the requested packaged tool https://example.com/tools/tree/main/x" in reasons[0]
    assert "missing" in reasons[1]


async def test_failing_module_is_refused_with_its_exception(write_module, discover_tools):
    discovery = await discover_tools(write_module("import hyperpocket\nraise KeyError('SLACK')"))
    [refusal] = discovery.rejected
    assert refusal.reason == "cannot import the module: KeyError: 'SLACK'"


async def test_function_without_annotations_is_refused_alone(write_module, discover_tools):
    code = """
import hyperpocket
def bad(a): ...
def good(a: int): ...
tools = [bad, good]
"""
    discovery = await discover_tools(write_module(code))
    assert [tool.declaration.name for tool in discovery.tools] == ["good"]
    assert "the parameter a of bad has no annotation" in discovery.rejected[0].reason


async def test_two_tools_with_one_name_are_both_refused(write_module, discover_tools):
    code = """
from hyperpocket.tool import from_func
def same(a: int): ...
one = from_func(same)
two = from_func(same)
"""
    discovery = await discover_tools(write_module(code))
    assert discovery.tools == ()
    assert len(discovery.rejected) == 2


async def test_module_does_not_see_the_operators_environment(write_module, invoke_tool):
    code = """
import os
from hyperpocket.tool import function_tool
@function_tool
def environment():
    return dict(os.environ)
"""
    output = json.dumps(await invoke_tool(write_module(code), "environment", {}))
    assert "not-for-tools" not in output


async def test_non_json_result_is_converted_to_json(write_module, invoke_tool):
    code = """
import datetime
from hyperpocket.tool import function_tool
@function_tool
def odd():
    return {1: (datetime.date(2026, 1, 2), {3}, b"abc", object)}
"""
    output = await invoke_tool(write_module(code), "odd", {})
    assert output["ok"]["result"]["1"] == ["2026-01-02", [3], "YWJj", "<class 'object'>"]


async def test_unconvertible_result_is_an_error(write_module, invoke_tool):
    code = """
from hyperpocket.tool import function_tool
@function_tool
def odd():
    return [float("nan")]
"""
    output = await invoke_tool(write_module(code), "odd", {})
    assert output["err"]["type"] == "ValueError"


async def test_tool_that_ends_its_process_is_an_error(write_module, invoke_tool):
    code = """
import os
from hyperpocket.tool import function_tool
@function_tool
def gone():
    os._exit(7)
"""
    output = await invoke_tool(write_module(code), "gone", {})
    assert output["err"]["exit_code"] == 7


async def test_health_is_bad_when_the_module_is_gone(write_module, discover_tools):
    place = write_module(
        "from hyperpocket.tool import from_func\ndef f(a: int): ...\nt = from_func(f)"
    )
    [tool] = (await discover_tools(place)).tools
    assert await tool.check_health() == {"present": True}
    place.unlink()
    assert await tool.check_health() == {"present": False}
