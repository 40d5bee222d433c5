from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from nexus_tools.bridges import BridgedTool, BridgeHost, Discovery, Naming, RejectedTool
from nexus_tools.bridges.schemas.variants import closed_object_schema, error_schema, output_schema
from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.tool import FqnPatterns


class Echo(BridgedTool):
    """A tool that returns its input."""

    async def run(self, arguments):
        return {"ok": dict(arguments)}


def a_tool(name, source, naming=None):
    return Echo(
        (naming or Naming()).fqn("echo", name),
        system="echo",
        source=source,
        description="",
        input_schema={"type": "object"},
        output_schema=output_schema({"ok": closed_object_schema({}), "err": error_schema()}),
    ).called(name)


def test_tool_knows_its_system_and_source():
    tool = a_tool("one", "/tools/one")
    assert (tool.system, tool.source, str(tool.fqn)) == ("echo", "/tools/one", "local.echo.one@1")


def test_tool_with_an_invalid_schema_is_refused():
    with pytest.raises(ValidationError) as caught:
        Echo(
            Naming().fqn("echo", "one"),
            system="echo",
            source="",
            description="",
            input_schema={"type": "object", "properties": {"perPage": {}}},
            output_schema=output_schema({"ok": closed_object_schema({})}),
        )
    assert caught.value.code == "tool_invalid"


def test_colliding_tools_are_refused_with_each_others_source():
    first, other, second = a_tool("same", "/a"), a_tool("other", "/b"), a_tool("same", "/c")
    joined = Discovery.merge([Discovery((first, other)), Discovery((second,))])
    assert joined.tools == (other,)
    assert joined.rejected == (
        RejectedTool(
            "echo",
            "/a",
            "another tool has the same FQN local.echo.same@1: /c",
            "Serve the tools separately, each with its own --domain.",
        ),
        RejectedTool(
            "echo",
            "/c",
            "another tool has the same FQN local.echo.same@1: /a",
            "Serve the tools separately, each with its own --domain.",
        ),
    )


def test_joined_gives_distinct_fqns_when_names_differ():
    same, capital = a_tool("same", "/a"), a_tool("Same", "/b")
    inner = Discovery.merge([Discovery((capital,)), Discovery((a_tool("SAME", "/c"),))])
    joined = Discovery.merge([inner, Discovery((same,))])
    assert joined.rejected == ()
    # printf '%s' Same | sha256sum
    assert {tool.source: str(tool.fqn) for tool in joined.tools} == {
        "/a": "local.echo.same@1",
        "/b": "local.echo.same-2a98b1de@1",
        "/c": "local.echo.same-d1ed0d26@1",
    }


def test_chosen_keeps_refusals_that_may_match():
    naming = Naming()
    meant, other = (naming.fqn("echo", name) for name in ("meant", "other"))
    refused = tuple(RejectedTool("echo", "/", "why", fqn=fqn) for fqn in (meant, other, None))
    chosen = Discovery(rejected=refused).select(FqnPatterns(only=("meant",)))
    assert [refusal.fqn for refusal in chosen.rejected] == [meant, None]
    assert chosen.excluded == (other,)


def test_two_tools_with_one_name_in_one_location_name_that_location():
    joined = Discovery.merge([Discovery((a_tool("x1", "/a"), a_tool("x1", "/a")))])
    assert [refusal.reason[-2:] for refusal in joined.rejected] == ["/a", "/a"]


def test_versions_and_domains_distinguish_tools_with_one_name():
    names = [Naming(), Naming(version=2), Naming("org.example")]
    tools = tuple(a_tool("same", "/a", naming) for naming in names)
    assert Discovery.merge([Discovery(tools)]).tools == tools


def test_refusals_stay_when_discoveries_are_joined():
    one, two = RejectedTool("echo", "/a", "why"), RejectedTool("echo", "/b", "why")
    joined = Discovery.merge([Discovery(rejected=(one,)), Discovery(rejected=(two,))])
    assert joined.rejected == (one, two)


async def test_lifespans_close_in_reverse_order():
    steps = []

    def lifespan(name):
        @asynccontextmanager
        async def lifetime(_):
            steps.append(f"{name} begins")
            yield
            steps.append(f"{name} ends")

        return lifetime

    parts = [Discovery(lifespans=(lifespan(name),)) for name in ("a", "b")]
    async with Discovery.merge(parts).running():
        steps.append("served")
    assert steps == ["a begins", "b begins", "served", "b ends", "a ends"]


async def test_discovery_can_be_served_twice():
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


def test_refusal_lists_each_invalid_location():
    failures = [{"pointer": "/a", "message": "is no text"}, {"pointer": "", "message": "is empty"}]
    error = NexusError("x", "it is wrong", hint="mend it", details={"failures": failures})
    assert RejectedTool.of("nora", Path("/tools/a"), error) == RejectedTool(
        "nora", "/tools/a", "it is wrong; /a: is no text; /: is empty", "mend it"
    )


def test_host_repr_omits_its_environment():
    host = BridgeHost(
        python=Path("python"), scratch=Path(), cache=Path(), environment={"TOKEN": "s3cret"}
    )
    assert "s3cret" not in repr(host)
