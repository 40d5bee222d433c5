from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from nexus_tools.bridges import BridgedTool, Discovery, Host, Naming, Refusal
from nexus_tools.bridges.schemas.variants import error_ports, object_of, output_schema
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.tool import FqnPatterns


class Echo(BridgedTool):
    """A tool that says what it is given."""

    async def run(self, arguments):
        return {"ok": dict(arguments)}


def a_tool(name, source, naming=None):
    return Echo(
        (naming or Naming()).fqn("echo", name),
        system="echo",
        source=source,
        description="",
        input_schema={"type": "object"},
        output_schema=output_schema({"ok": object_of({}), "err": error_ports()}),
    ).called(name)


def test_a_tool_knows_its_system_and_where_it_was_found():
    tool = a_tool("one", "/tools/one")
    assert (tool.system, tool.source, str(tool.fqn)) == ("echo", "/tools/one", "local.echo.one@1")


def test_a_tool_whose_schema_breaks_the_rules_is_none():
    with pytest.raises(ValidationError) as caught:
        Echo(
            Naming().fqn("echo", "one"),
            system="echo",
            source="",
            description="",
            input_schema={"type": "object", "properties": {"perPage": {}}},
            output_schema=output_schema({"ok": object_of({})}),
        )
    assert caught.value.code == "tool_invalid"


def test_tools_that_would_have_one_name_are_refused_each_with_the_place_of_the_other():
    first, other, second = a_tool("same", "/a"), a_tool("other", "/b"), a_tool("same", "/c")
    joined = Discovery.joined([Discovery((first, other)), Discovery((second,))])
    assert joined.tools == (other,)
    assert joined.refused == (
        Refusal(
            "echo",
            "/a",
            "another tool would be called local.echo.same@1 too: /c",
            "serve them apart, each with its own --domain",
        ),
        Refusal(
            "echo",
            "/c",
            "another tool would be called local.echo.same@1 too: /a",
            "serve them apart, each with its own --domain",
        ),
    )


def test_joined_gives_distinct_fqns_when_names_differ():
    same, capital = a_tool("same", "/a"), a_tool("Same", "/b")
    inner = Discovery.joined([Discovery((capital,)), Discovery((a_tool("SAME", "/c"),))])
    joined = Discovery.joined([inner, Discovery((same,))])
    assert joined.refused == ()
    # printf '%s' Same | sha256sum
    assert {tool.source: str(tool.fqn) for tool in joined.tools} == {
        "/a": "local.echo.same@1",
        "/b": "local.echo.same-2a98b1de@1",
        "/c": "local.echo.same-d1ed0d26@1",
    }


def test_chosen_keeps_refusals_that_may_be_meant():
    naming = Naming()
    meant, other = (naming.fqn("echo", name) for name in ("meant", "other"))
    refused = tuple(Refusal("echo", "/", "why", fqn=fqn) for fqn in (meant, other, None))
    chosen = Discovery(refused=refused).chosen(FqnPatterns(only=("meant",)))
    assert [refusal.fqn for refusal in chosen.refused] == [meant, None]
    assert chosen.left_out == (other,)


def test_two_tools_of_one_name_in_one_place_name_that_place():
    joined = Discovery.joined([Discovery((a_tool("x1", "/a"), a_tool("x1", "/a")))])
    assert [refusal.reason[-2:] for refusal in joined.refused] == ["/a", "/a"]


def test_versions_and_domains_tell_tools_of_one_name_apart():
    names = [Naming(), Naming(version=2), Naming("org.example")]
    tools = tuple(a_tool("same", "/a", naming) for naming in names)
    assert Discovery.joined([Discovery(tools)]).tools == tools


def test_what_was_refused_stays_refused_when_discoveries_are_joined():
    one, two = Refusal("echo", "/a", "why"), Refusal("echo", "/b", "why")
    joined = Discovery.joined([Discovery(refused=(one,)), Discovery(refused=(two,))])
    assert joined.refused == (one, two)


async def test_what_has_to_live_while_tools_are_served_is_left_in_reverse_order():
    steps = []

    def lifespan(name):
        @asynccontextmanager
        async def lifetime(_):
            steps.append(f"{name} begins")
            yield
            steps.append(f"{name} ends")

        return lifetime

    parts = [Discovery(lifespans=(lifespan(name),)) for name in ("a", "b")]
    async with Discovery.joined(parts).running():
        steps.append("served")
    assert steps == ["a begins", "b begins", "served", "b ends", "a ends"]


async def test_a_discovery_can_be_served_twice():
    begun = []

    @asynccontextmanager
    async def lifetime(_):
        begun.append(True)
        yield

    found = Discovery(lifespans=(lifetime,))
    for _ in range(2):
        async with found.running():
            pass
    assert len(begun) == 2


def test_a_refusal_tells_each_wrong_place():
    failures = [{"pointer": "/a", "message": "is no text"}, {"pointer": "", "message": "is empty"}]
    error = NexusError("x", "it is wrong", hint="mend it", details={"failures": failures})
    assert Refusal.of("nora", Path("/tools/a"), error) == Refusal(
        "nora", "/tools/a", "it is wrong; /a: is no text; /: is empty", "mend it"
    )


def test_a_hosts_representation_tells_nothing_of_its_environment():
    host = Host(
        python=Path("python"), scratch=Path(), cache=Path(), environment={"TOKEN": "s3cret"}
    )
    assert "s3cret" not in repr(host)
