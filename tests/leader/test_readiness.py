import pytest

from nexus_tools.leader.intake.readiness import Readiness
from nexus_tools.leader.intake.watcher import BEGINNING

FINE = ({}, "")
SILENT = ({"node": "it is silent", "watcher": "no events"}, "node_unreachable")
OTHER = ({"node": "it is of another chain"}, "wrong_chain")
BROKEN = ({"closer": "a transaction was refused"}, "")
STARTED = ({"watcher": BEGINNING}, "")


@pytest.mark.parametrize(
    ("beats", "told"),
    [
        ([FINE, FINE], []),
        ([SILENT], ["not_ready"]),
        ([SILENT, SILENT, FINE, FINE], ["not_ready", "ready"]),
        ([SILENT, OTHER, OTHER, FINE], ["not_ready", "not_ready", "ready"]),
        ([SILENT, BROKEN, SILENT], ["not_ready"]),
        ([BROKEN, FINE, BROKEN, FINE], []),
        ([BROKEN, BROKEN, BROKEN, FINE], ["not_ready", "ready"]),
        ([BROKEN, BROKEN, SILENT], ["not_ready", "not_ready"]),
        ([STARTED, STARTED], []),
        ([SILENT, STARTED, FINE], ["not_ready", "ready"]),
    ],
)
def test_readiness_logs_only_changes(logged, beats, told):
    readiness = Readiness()
    for problems, code in beats:
        readiness.log_change(problems, code)
    assert [line["event"] for line in logged] == told


def test_warning_names_each_component_with_its_problem_and_the_code(logged):
    readiness = Readiness()
    readiness.log_change(*SILENT)
    readiness.log_change(*FINE)
    for problems, code in (BROKEN, BROKEN):
        readiness.log_change(problems, code)
    warning = {"event": "not_ready", "log_level": "warning"}
    assert [line for line in logged if line["event"] != "ready"] == [
        {**warning, **SILENT[0], "code": "node_unreachable"},
        {**warning, **BROKEN[0]},
    ]
