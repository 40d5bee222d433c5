"""`nexus-tools schedule`, on a chain whose clock is set forward."""

import json
import re

import anyio
import pytest
from msgspec.structs import fields

from nexus_tools.contracts import Deployment
from nexus_tools.registry import Executions, Schedules, Workflows
from nexus_tools.sui.client import Cursor, SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import read_document

SUI = 1_000_000_000
HOUR_MS = 3_600_000
FIELDS = [field.name for field in fields(Deployment)]


@pytest.fixture
def run_with_client(author, chain):
    """Runs what needs a client and the deployment, in the name of the author or of another."""

    known = author.json("package", "show")
    deployment = Deployment.parse({name: known[name] for name in FIELDS})

    def connected(work, person=author):
        async def run():
            network = Network("test", chain.url, chain.url)
            async with SuiClient(network, person.wallet.signer()) as client:
                return await work(client, deployment)

        return anyio.run(run)

    return connected


@pytest.fixture
def flow(registered_fqn, run_with_client):
    """The FQN of a workflow of the registered tool."""
    kind = {"variant": "off_chain", "tool_fqn": registered_fqn}
    ports = [{"name": "a"}, {"name": "b"}]
    vertex = {"name": "add", "kind": kind, "entry_ports": ports}
    document, _ = read_document(json.dumps({"vertices": [vertex], "edges": []}))
    fqn = registered_fqn.replace("@1", "-flow@1")
    run_with_client(lambda client, deployment: Workflows(client, deployment).publish(document, fqn))
    return fqn


@pytest.fixture
def schedule(author, flow):
    """The id of a schedule that begins every hour."""
    return author.json("schedule", "create", flow, *VALUES, *HOURLY, "--yes")["schedule"]


VALUES = ("--input", "a=1", "--input", "add.b=2")
HOURLY = ("--every", "1h", "--funds", "1")


def test_created_schedule_is_listed_and_shown(author, flow, operator_leader):
    created = author.json("schedule", "create", flow, *VALUES, *HOURLY, "--yes")
    assert created["leaders"] == [operator_leader]
    assert created["funds_mist"] == SUI
    [row] = author.json("schedule", "list")
    assert row["schedule"] == created["schedule"]
    assert (row["state"], row["started"], row["funds_mist"]) == ("active", 0, SUI)
    assert row["workflow"] == created["workflow"] == flow
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == "every 1 h"
    assert shown["next_at_ms"] == created["next_at_ms"]
    assert (shown["funds_per_execution_mist"], shown["executions"]) == (
        created["funds_per_execution_mist"],
        [],
    )
    words = author.run("schedule", "show", created["schedule"]).stdout
    assert "every 1 h" in words
    assert "(in " in author.run("schedule", "list").stdout


def test_schedule_pauses_resumes_and_is_refilled(author, schedule):
    author.json("schedule", "pause", schedule, "--yes")
    assert author.json("schedule", "show", schedule)["state"] == "paused"
    assert author.fails("schedule", "pause", schedule, "--yes")[1] == "already_paused"
    assert f"schedule resume {schedule}" in author.run("schedule", "pause", schedule).stderr
    author.json("schedule", "resume", schedule, "--yes")
    author.json("schedule", "refill", schedule, "0.5", "--yes")
    shown = author.json("schedule", "show", schedule)
    assert (shown["state"], shown["funds_mist"]) == ("active", SUI * 3 // 2)


def test_cancelled_schedule_is_deleted(author, schedule):
    document = author.json("schedule", "cancel", schedule, "--yes")
    assert document["events"] == ["ScheduleCancelled", "ScheduleDeleted"]
    assert document["returned_mist"] == SUI
    for verb in (("show",), ("pause", "--yes"), ("resume", "--yes"), ("refill", "1", "--yes")):
        command = ("schedule", verb[0], schedule, *verb[1:])
        assert author.fails(*command) == (3, "schedule_unknown")
    listed = author.run("schedule", "list").stderr
    assert "no schedules. Run `nexus-tools schedule create` to create one" in listed


def test_cancel_reports_the_refund(author, schedule):
    rehearsed = author.run("schedule", "cancel", schedule, "--dry-run")
    said = f"cancelled the schedule {schedule}: 1 SUI refunded"
    assert said in rehearsed.stderr
    assert said in author.run("schedule", "cancel", schedule, "--yes").stderr


def test_create_names_all_missing_options_at_once(author, flow):
    error = author.run("schedule", "create", flow, "--json").error
    assert "--funds SUI, one of --every, --cron, --at and --on-event, --input " in error["hint"]
    assert author.fails("schedule", "create", flow, *VALUES, "--every", "1h") == (
        2,
        "option_missing",
    )
    assert author.fails("schedule", "create", flow, *HOURLY) == (2, "input_missing")
    assert author.fails("schedule", "create", flow, *VALUES, "--funds", "1") == (
        2,
        "timing_missing",
    )


def test_refill_rejects_zero(author, schedule):
    assert author.fails("schedule", "refill", schedule, "0", "--yes") == (2, "amount_invalid")


def test_schedule_is_finished_after_its_last_execution(author, chain, flow, run_with_client):
    options = ("--max-executions", "1", "--deadline", "10m", "--yes")
    created = author.json("schedule", "create", flow, *VALUES, *HOURLY, *options)
    schedule = created["schedule"]
    chain.advance_clock(HOUR_MS + 20_000)
    place = Address.parse(schedule)
    run_with_client(lambda client, deployment: Schedules(client, deployment).trigger(place))
    chain.advance_clock(600_000)  # no leader runs, so it times out
    shown = author.json("schedule", "show", schedule)
    assert (shown["state"], shown["next_at_ms"], shown["running"]) == ("finished", None, 0)
    assert shown["collectable_mist"] == created["funds_per_execution_mist"]
    [began] = shown["executions"]
    assert shown["funds_mist"] == SUI - began["fee_mist"] - began["storage_mist"]
    for command in (("show", schedule), ("list",)):
        said = author.run("schedule", *command)
        assert f"next: `nexus-tools schedule cancel {schedule}` withdraws its " in said.stderr
        assert "refill" not in said.stderr
    assert "from ended executions" in author.run("schedule", "show", schedule).stdout
    assert author.fails("schedule", "refill", schedule, "1", "--yes") == (4, "schedule_finished")
    assert author.fails("schedule", "pause", schedule, "--yes") == (4, "schedule_finished")
    cancelled = author.json("schedule", "cancel", schedule, "--yes")
    assert cancelled["returned_mist"] == shown["funds_mist"]
    assert cancelled["events"][-1] == "ScheduleDeleted"


def test_show_prints_the_refill_for_the_next_execution(author, chain, flow, run_with_client):
    options = ("--every", "1h", "--funds", "0.07", "--yes")
    schedule = author.json("schedule", "create", flow, *VALUES, *options)["schedule"]
    assert "refill" not in author.run("schedule", "show", schedule).stderr
    chain.advance_clock(HOUR_MS + 20_000)
    place = Address.parse(schedule)
    run_with_client(lambda client, deployment: Schedules(client, deployment).trigger(place))
    said = author.run("schedule", "show", schedule).stderr
    amount = re.search(f"nexus-tools schedule refill {schedule} ([0-9.]+)`", said)[1]
    author.json("schedule", "refill", schedule, amount, "--yes")
    assert "refill" not in author.run("schedule", "show", schedule).stderr


def test_cancel_collects_funds_of_a_running_execution_later(
    author, chain, schedule, run_with_client
):
    chain.advance_clock(HOUR_MS + 20_000)
    place = Address.parse(schedule)
    run_with_client(lambda client, deployment: Schedules(client, deployment).trigger(place))
    said = author.run("schedule", "cancel", schedule, "--yes").stderr
    assert "run the same command again to collect its leftover funds" in said
    assert author.fails("schedule", "cancel", schedule, "--yes") == (4, "schedule_cancelled")
    assert author.fails("schedule", "refill", schedule, "1", "--yes") == (4, "schedule_cancelled")
    assert author.fails("schedule", "resume", schedule, "--yes") == (4, "schedule_cancelled")
    chain.advance_clock(HOUR_MS)
    funds_per_execution_mist = author.json("schedule", "show", schedule)["funds_per_execution_mist"]
    assert (
        author.json("schedule", "cancel", schedule, "--yes")["returned_mist"]
        == funds_per_execution_mist
    )


def test_show_lists_started_executions(author, chain, schedule, run_with_client):
    chain.advance_clock(HOUR_MS + 20_000)
    place = Address.parse(schedule)
    run_with_client(lambda client, deployment: Schedules(client, deployment).trigger(place))
    shown = author.json("schedule", "show", schedule)
    assert (shown["started"], shown["running"]) == (1, 1)
    [execution] = shown["executions"]
    assert (execution["missed"], execution["status"]) == (0, "running")
    assert execution["execution"] in author.run("schedule", "show", schedule).stdout
    chain.advance_clock(24 * HOUR_MS)  # no leader runs
    place = Address.parse(execution["execution"])
    run_with_client(lambda client, deployment: Executions(client, deployment).expire(place))
    said = author.run("schedule", "show", schedule)
    assert " timed_out " in said.stdout
    assert f"details: `nexus-tools workflow show {place}`" in said.stderr


def test_create_accepts_times_and_events(author, flow):
    at = ("--at", "2190-01-02T03:04Z", "--at", "2190-01-01T00:00+01:00")
    created = author.json("schedule", "create", flow, *VALUES, *at, "--funds", "1", "--yes")
    # 220 years of 365 days and 54 leap days after 1970, but for an hour.
    assert created["next_at_ms"] == (220 * 365 + 54) * 86_400_000 - HOUR_MS
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == "at 2 times, the last one 2190-01-02 03:04 UTC"
    event = ("--on-event", "0x2::coin::Minted", "--pause-after-event", "5m", "--funds", "1")
    created = author.json("schedule", "create", flow, *VALUES, *event, "--yes")
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == "on 0x2::coin::Minted, at most once every 5 min and 100 times a day"
    assert created["next_at_ms"] is shown["next_at_ms"] is None
    words = author.run("schedule", "show", created["schedule"])
    assert "with the next event" in words.stdout
    assert flow in words.stdout


def test_cron_gives_times(author, flow):
    cron = ("--cron", "0 9 1 1 *", "--time-zone", "Europe/Berlin", "--until", "2190-01-01T08:00Z")
    created = author.json("schedule", "create", flow, *VALUES, *cron, "--funds", "1", "--yes")
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == created["when"]
    assert shown["when"].endswith("times, the last one 2190-01-01 08:00 UTC")
    # An hour before nine in UTC, and on New Year's Day: a multiple of days after it.
    assert (created["next_at_ms"] - 8 * HOUR_MS) % (24 * HOUR_MS) == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--every", "1h", "--cron", "* * * * *"), "timing_missing"),
        (("--at", "2190-01-01", "--until", "2190-01-02"), "timing_missing"),
        (("--every", "1h", "--time-zone", "UTC"), "timing_missing"),
        (("--cron", "* * * * *", "--start", "2190-01-02"), "timing_missing"),
        (("--cron", "now and then"), "cron_invalid"),
        (("--at", "tomorrow"), "time_invalid"),
        (("--at", "2190-01-01T00:00"), "time_invalid"),
        (("--on-event", "coin"), "type_invalid"),
    ],
)
def test_create_rejects_invalid_timing(author, options, code):
    command = ("schedule", "create", "xyz.example.none@1", "--funds", "1", *options)
    assert author.fails(*command)[1] == code


def test_show_says_what_was_missed(author, chain, flow):
    late = ("--max-delay", "30s", "--yes")
    created = author.json("schedule", "create", flow, *VALUES, *HOURLY, *late)
    assert author.json("schedule", "show", created["schedule"])["missed"] == 0
    chain.advance_clock(3 * HOUR_MS + 60_000)
    assert author.json("schedule", "show", created["schedule"])["missed"] == 3
    said = author.run("schedule", "show", created["schedule"]).stderr
    assert "missed 3 planned times: no leader started an execution within 30 s" in said


def test_nickname_of_cron_gives_times(author, flow):
    cron = ("--cron", "@daily", "--time-zone", "Europe/Berlin", "--funds", "1", "--yes")
    created = author.json("schedule", "create", flow, *VALUES, *cron)
    assert created["when"].startswith("at 256 times")


def test_extend_prolongs_a_cron_schedule_as_far_as_there_is_room(author, chain, flow):
    cron = ("--cron", "@daily", "--funds", "1", "--yes")
    created = author.json("schedule", "create", flow, *VALUES, *cron)
    schedule = created["schedule"]
    extend = ("schedule", "extend", schedule, "--cron", "@daily", "--yes")
    assert author.fails(*extend) == (4, "planned_times_full")
    chain.advance_clock(300 * 24 * HOUR_MS)
    before = author.json("schedule", "show", schedule)
    assert before["missed"] == 255
    # The last time is still due, because no one has started it.
    assert author.fails(*extend) == (4, "planned_times_full")
    author.json("schedule", "pause", schedule, "--yes")
    author.json("schedule", "resume", schedule, "--yes")
    assert author.json("schedule", "show", schedule)["state"] == "finished"
    assert author.json(*extend)["added"] == 256
    after = author.json("schedule", "show", schedule)
    assert (after["state"], after["missed"]) == ("active", 0)
    # The first one is the next midnight.
    assert after["next_at_ms"] % (24 * HOUR_MS) == 0
    assert 299 * 24 * HOUR_MS < after["next_at_ms"] - created["next_at_ms"] <= 301 * 24 * HOUR_MS


def test_extend_moves_the_end_and_the_limit(author, chain, flow):
    options = (
        "--every",
        "1h",
        "--until",
        "2190-01-01T00:00Z",
        "--max-executions",
        "3",
        "--funds",
        "1",
    )
    created = author.json("schedule", "create", flow, *VALUES, *options, "--yes")
    extended = author.json(
        *("schedule", "extend", created["schedule"], "--until", "2191-01-01T00:00Z"),
        *("--add-executions", "2", "--yes"),
    )
    assert extended["max_executions"] == 5
    shown = author.json("schedule", "show", created["schedule"])
    assert shown["when"] == "every 1 h, until 2191-01-01 00:00 UTC"
    assert shown["max_executions"] == 5


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), "extension_empty"),
        (("--cron", "@daily", "--at", "2190-01-01T00:00Z"), "timing_missing"),
        (("--time-zone", "UTC", "--add-executions", "1"), "timing_missing"),
        (("--at", "2020-01-01T00:00Z"), "time_passed"),
        (("--at", "2190-01-01T00:00Z"), "no_time_list"),
        (("--until", "2190-01-01T00:00Z"), "invalid_end"),
        (("--add-executions", "1"), "executions_unlimited"),
    ],
)
def test_extend_rejects_invalid_options(author, schedule, options, code):
    assert author.fails("schedule", "extend", schedule, *options, "--yes")[1] == code


def test_cursor_ahead_of_the_chain_is_shown_and_reset(
    author, operator, flow, run_with_client, operator_leader
):
    event = ("--on-event", "0x2::coin::Minted", "--funds", "1", "--yes")
    schedule = author.json("schedule", "create", flow, *VALUES, *event)["schedule"]
    place, leader = Address.parse(schedule), Address.parse(operator_leader)

    async def lie(client, deployment):
        last = Cursor(2**64 - 1, 0, 0)
        await Schedules(client, deployment).trigger_by_event(place, leader, last)

    assert "reset-cursor" not in author.run("schedule", "show", schedule).stderr
    run_with_client(lie, operator)
    said = author.run("schedule", "show", schedule).stderr
    assert f"nexus-tools schedule reset-cursor {schedule}" in said
    reset = author.json("schedule", "reset-cursor", schedule, "--leader", operator_leader, "--yes")
    assert reset["leaders"] == [operator_leader]
    assert "reset-cursor" not in author.run("schedule", "show", schedule).stderr


def test_dry_run_creates_nothing(author, flow):
    told = author.json("schedule", "create", flow, *VALUES, *HOURLY, "--dry-run")
    assert told["dry_run"]
    assert author.json("schedule", "list") == []
    words = author.run("schedule", "create", flow, *VALUES, *HOURLY, "--dry-run").stderr
    assert "schedule show" not in words


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--funds", "1"), "timing_missing"),
        (("--every", "1h", "--at", "2190-01-01", "--funds", "1"), "timing_missing"),
        (("--at", "2190-01-01", "--until", "2190-01-02", "--funds", "1"), "timing_missing"),
        (("--at", "soon", "--funds", "1"), "time_invalid"),
        (("--every", "59s", "--funds", "1"), "invalid_interval"),
        (("--every", "0s", "--funds", "1"), "invalid_interval"),
        (("--every", "1h", "--until", "2020-01-01T00:00Z", "--funds", "1"), "no_future_time"),
        (("--at", "2020-01-01T00:00Z", "--funds", "1"), "time_passed"),
        (("--every", "1h", "--start", "2020-01-01T00:00Z", "--funds", "1"), "time_passed"),
        (("--every", "1h", "--start", "1969-01-01T00:00Z", "--funds", "1"), "time_invalid"),
        (("--at", "1969-01-01T00:00Z", "--funds", "1"), "time_invalid"),
        (("--every", "1h", "--until", "1969-01-01T00:00Z", "--funds", "1"), "time_invalid"),
        (("--every", "213503982334d", "--funds", "1"), "invalid_interval"),
        (("--every", "1h", "--max-delay", "0s", "--funds", "1"), "invalid_lateness"),
        (("--every", "1h", "--max-delay", "1ms", "--funds", "1"), "invalid_lateness"),
        (("--on-event", "0x2::a::B", "--max-delay", "1h", "--funds", "1"), "timing_missing"),
        (("--on-event", "0x2::a::B", "--pause-after-event", "9s", "--funds", "1"), "invalid_pause"),
        (("--every", "1h", "--funds", "0.001"), "funds_too_small"),
        (("--every", "1h", "--funds", "1", "--funds-per-execution", "0.001"), "funds_too_small"),
    ],
)
def test_create_rejects_invalid_options(author, flow, options, code):
    assert author.fails("schedule", "create", flow, *VALUES, *options, "--yes")[1] == code


def test_create_reports_unknown_workflow(author, publisher):
    failed = author.fails("schedule", "create", "xyz.test.none@1", *HOURLY, "--yes")
    assert failed == (3, "workflow_unknown")
