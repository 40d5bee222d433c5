"""Every abort of the modules of workflows, caused on a chain: see `test_tool`."""

import pytest

from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings import name
from nexus_tools.contracts.move_bindings.workflows import dag

ADD = "xyz.example.math.add@1"
FLOW = "xyz.example.flow@1"

MODULES = ("dag", "plan")

CASES = {}


def reaches(module, error):
    """Register the decorated function, which adds commands that abort with this error."""

    def keep(write):
        CASES[module, error] = write
        return write

    return keep


class Draft:
    """A workflow that the owner starts to publish."""

    def __init__(self, world):
        self.world = world
        self.dag, self.name = self.do(dag.draft, *self.terms())

    def terms(self, fqn=FLOW, description="", tools=(ADD,)):
        deployment = self.world.deployment
        registries = deployment.dag_registry, deployment.tool_registry
        return *registries, fqn, description, b"", list(tools)

    def do(self, function, *arguments):
        package = self.world.deployment.package_of(function)
        return function(self.world.builder, package, *arguments)

    def version(self, **terms):
        dags, tools, *rest = self.terms(**terms)
        self.do(dag.save_draft, self.do(dag.draft_version, dags, tools, self.name, *rest))

    def vertices(self, count=1, tool=0):
        columns = [tool] * count, [[]] * count, [b""] * count, b"\1" * count, [0] * count
        self.do(dag.add_vertices, self.dag, *columns, [1] * count, [False] * count)

    def ports(self, *names):
        flags = bytes(len(names))
        self.do(dag.add_ports, self.dag, 0, flags, list(names), flags)

    def edge(self, *row):
        self.do(dag.add_edges, self.dag, 0, b"\0", ["ok"], ["sum"], [row])

    def end(self):
        self.do(dag.save_draft, self.dag)
        self.do(name.share, self.name)


@reaches("dag", "EInvalidFqn")
def a_version_that_is_none(draft):
    draft.version(fqn="xyz.example.flow@0")


@reaches("dag", "EWrongName")
def a_version_of_another_name(draft):
    draft.version(fqn="xyz.example.other@1")


@reaches("dag", "EFqnTaken")
def the_same_version_twice(draft):
    draft.version()


@reaches("dag", "EDescriptionTooLong")
def a_long_description(draft):
    draft.version(fqn="xyz.example.flow@2", description="d" * 4_097)


@reaches("dag", "EUnknownTool")
def a_tool_that_nobody_registered(draft):
    draft.version(fqn="xyz.example.flow@2", tools=["xyz.example.math.sub@1"])


@reaches("dag", "ELengthMismatch")
def columns_of_different_lengths(draft):
    draft.do(dag.add_sources, draft.dag, 0, b"\0", b"", [])


@reaches("dag", "EInvalidPage")
def ports_of_a_page_that_is_not_there(draft):
    draft.ports("a")


@reaches("dag", "EInvalidPlan")
def a_vertex_of_a_tool_that_is_not_named(draft):
    draft.vertices(tool=1)


@reaches("dag", "EPlanTooLarge")
def a_group_of_many(draft):
    draft.do(dag.add_group, draft.dag, "group", [0] * 129)


@reaches("dag", "EPagesNotChecked")
def publish_without_a_check(draft):
    draft.vertices()
    dag_, draft.dag = (
        draft.dag,
        draft.do(
            dag.draft_version,
            *draft.terms()[:2],
            draft.name,
            *draft.terms(fqn="xyz.example.flow@2")[2:],
        ),
    )
    draft.do(dag.publish, dag_)


@reaches("dag", "EStepTooLarge")
def a_step_that_starts_many_wide_vertices(draft):
    draft.vertices(33)
    names, none = [f"p{number}" for number in range(27)], 0xFFFF
    for vertex in range(1, 33):
        draft.do(dag.add_ports, draft.dag, 0, bytes([vertex] * 27), names, bytes(27))
    rows = [[number, number + 1, 0, 0, 0, 0, none, none, none] for number in range(32)]
    draft.do(dag.add_edges, draft.dag, 0, bytes(32), ["ok"] * 32, ["sum"] * 32, rows)
    draft.do(dag.check_page, draft.dag, 0)


@reaches("plan", "EPlanTooLarge")
def a_long_name(draft):
    draft.vertices()
    draft.ports("n" * 33)


@reaches("plan", "EInvalidRow")
def a_short_row(draft):
    draft.vertices()
    draft.edge(0, 0, 0)


@reaches("plan", "EDuplicatePort")
def a_port_twice(draft):
    draft.vertices()
    draft.ports("a", "a")


# --- Tests


def test_every_error_constant_has_a_case():
    stated = [
        (module, error.name)
        for module in MODULES
        for error in getattr(calls.workflows, module).ERRORS
    ]
    assert sorted(CASES) == sorted(stated)


@pytest.mark.parametrize(("module", "error"), CASES, ids=lambda part: part)
async def test_abort_is_explained_with_its_reason(world, module, error):
    draft = Draft(world)
    CASES[module, error](draft)
    draft.end()
    await world.assert_aborts(world.owner, module, error)
