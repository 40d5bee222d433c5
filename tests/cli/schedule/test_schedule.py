"""`nexus-tools schedule`, on a chain whose clock is set forward."""

import json

import anyio
import pytest
from msgspec.structs import fields

from nexus_tools.client import Network, SuiClient
from nexus_tools.package import Deployment
from nexus_tools.registry import Schedules, Workflows
from nexus_tools.sui.address import Address
from nexus_tools.workflow import read_document

SUI = 1_000_000_000
HOUR_MS = 3_600_000
FIELDS = [field.name for field in fields(Deployment)]


@pytest.fixture
def connected(author, chain):
    """Runs what needs a client and the deployment, in the author's name."""

    known = author.json("package", "show")
    deployment = Deployment.parse({name: known[name] for name in FIELDS})

    def connected(work):
        async def run():
            network = Network("test", chain.url, chain.url)
            async with SuiClient(network, author.wallet.signer()) as client:
                return await work(client, deployment)

        return anyio.run(run)

    return connected


@pytest.fixture
def flow(registered, connected):
    """The FQN of a workflow of the registered tool."""
    kind = {"variant": "off_chain", "tool_fqn": registered}
    ports = [{"name": "a"}, {"name": "b"}]
    vertex = {"name": "add", "kind": kind, "entry_ports": ports}
    document, _ = read_document(json.dumps({"vertices": [vertex], "edges": []}))
    fqn = registered.replace("@1", "-flow@1")
    connected(lambda client, deployment: Workflows(client, deployment).publish(document, fqn))
    return fqn


@pytest.fixture
def schedule(author, flow):
    """The id of a schedule that begins every hour."""
    return author.json("schedule", "create", flow, *VALUES, *HOURLY, "--yes")["schedule"]


VALUES = ("--input", "a=1", "--input", "add.b=2")
HOURLY = ("--every", "1h", "--funds", "1")


def test_what_is_created_is_listed_and_shown(author, flow, carrier):
    created = author.json("schedule", "create", flow, *VALUES, *HOURLY, "--yes")
    assert created["leaders"] == [carrier]
    assert created["funds_mist"] == SUI
    [row] = author.json("schedule", "list")
    assert row["schedule"] == created["schedule"]
    assert (row["state"], row["begun"], row["funds_mist"]) == ("active", 0, SUI)
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == "every 1 h"
    assert shown["next_at_ms"] == created["next_at_ms"]
    assert (shown["each_mist"], shown["executions"]) == (created["each_mist"], [])
    words = author.run("schedule", "show", created["schedule"]).stdout
    assert "every 1 h" in words
    assert "(in " in author.run("schedule", "list").stdout


def test_a_schedule_pauses_resumes_and_is_refilled(author, schedule):
    author.json("schedule", "pause", schedule, "--yes")
    assert author.json("schedule", "show", schedule)["state"] == "paused"
    assert author.fails("schedule", "pause", schedule, "--yes")[1] == "paused"
    author.json("schedule", "resume", schedule, "--yes")
    author.json("schedule", "refill", schedule, "0.5", "--yes")
    shown = author.json("schedule", "show", schedule)
    assert (shown["state"], shown["funds_mist"]) == ("active", SUI * 3 // 2)


def test_what_is_cancelled_is_gone(author, schedule):
    document = author.json("schedule", "cancel", schedule, "--yes")
    assert document["events"] == ["ScheduleCancelled", "ScheduleDeleted"]
    assert author.fails("schedule", "show", schedule) == (3, "schedule_unknown")
    assert "you have no schedule" in author.run("schedule", "list").stderr


def test_what_was_begun_is_shown(author, chain, schedule, connected):
    chain.advance_clock(HOUR_MS + 20_000)
    place = Address.parse(schedule)
    connected(lambda client, deployment: Schedules(client, deployment).trigger(place))
    shown = author.json("schedule", "show", schedule)
    assert (shown["begun"], shown["running"]) == (1, 1)
    [execution] = shown["executions"]
    assert execution["missed"] == 0
    assert execution["execution"] in author.run("schedule", "show", schedule).stdout


def test_times_and_events(author, flow):
    at = ("--at", "2190-01-02T03:04Z", "--at", "2190-01-01T00:00+01:00")
    created = author.json("schedule", "create", flow, *VALUES, *at, "--funds", "1", "--yes")
    # 220 years of 365 days and 54 leap days after 1970, but for an hour.
    assert created["next_at_ms"] == (220 * 365 + 54) * 86_400_000 - HOUR_MS
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == "at 2 times, the last one 2190-01-02 03:04 UTC"
    event = ("--on-event", "0x2::coin::Minted", "--pause-after-event", "5m", "--funds", "1")
    created = author.json("schedule", "create", flow, *VALUES, *event, "--yes")
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == "on 0x2::coin::Minted, at most once in 5 min"


def test_a_dry_run_creates_nothing(author, flow):
    told = author.json("schedule", "create", flow, *VALUES, *HOURLY, "--dry-run")
    assert told["dry_run"]
    assert author.json("schedule", "list") == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--funds", "1"), "timing_missing"),
        (("--every", "1h", "--at", "2190-01-01", "--funds", "1"), "timing_missing"),
        (("--at", "2190-01-01", "--until", "2190-01-02", "--funds", "1"), "timing_missing"),
        (("--at", "soon", "--funds", "1"), "time_invalid"),
        (("--every", "59s", "--funds", "1"), "invalid_interval"),
    ],
)
def test_what_cannot_be_is_said(author, flow, options, code):
    assert author.fails("schedule", "create", flow, *VALUES, *options, "--yes")[1] == code


def test_an_unknown_workflow_is_said(author, publisher):
    failed = author.fails("schedule", "create", "xyz.test.none@1", *HOURLY, "--yes")
    assert failed == (3, "workflow_unknown")
