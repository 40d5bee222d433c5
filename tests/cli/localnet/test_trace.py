import io
from base64 import b64encode

import pytest
from anyio.to_thread import run_sync
from msgspec.structs import replace
from rich.console import Console

from nexus_tools.cli.framework import Output
from nexus_tools.cli.localnet.trace import show_trace
from nexus_tools.cli.localnet.trace_tree import command_tree
from nexus_tools.sui.bcs import u8
from nexus_tools.sui.client import TraceView, failure_text
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import MOVE_STDLIB, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import NoExpiration, ValidDuring
from nexus_tools.sui.types.transaction import GasData, TransactionData

OURS = f"0x{0xAB << 248:064x}"
SHORT = "0xab00…0000"
COUNTER = f"{OURS}::counter::Counter"
VIEW = TraceView(depth=9)
SUCCESS = {"success": True}
ABORT = {
    "success": False,
    "error": "MOVE_ABORT",
    "command": 0,
    "message": "abort 7",
    "location": {"package": OURS, "module": "counter", "function": "check", "instruction": 8},
    "abort_code": "7",
    "clever_error": None,
}


@pytest.fixture
def user(home, chain):
    """A user who knows the network."""
    home.configure(network="test", networks={"test": {"url": chain.url, "faucet_url": chain.url}})
    return home


def lines(tree):
    """Return the lines that a terminal shows for a tree."""
    out = io.StringIO()
    Console(file=out, width=200).print(tree)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def call(name, **fields):
    return {
        "kind": "call",
        "package": OURS,
        "module": "counter",
        "function": name,
        "is_native": False,
        "type_arguments": [],
        "arguments": [],
        "results": [],
        "status": "returned",
        "gas": {"total": 0, "own": 0},
        "steps": [],
        "left_out": 0,
    } | fields


def command(kind, **fields):
    return call("", index=0, package=None) | {"kind": kind} | fields


def test_trace_shows_call_with_values_gas_and_events():
    check = call("check", arguments=[{"type": "u64", "value": "5"}], gas={"total": 7, "own": 7})
    event = {"kind": "event", "type": f"{OURS}::counter::Increased", "value": "Increased {by: 5}"}
    counter = {"type": f"&mut {COUNTER}", "value": "Counter {value: 0}"}
    increase = call(
        "increase",
        arguments=[counter | {"after": "Counter {value: 5}"}, {"type": "u64", "value": "5"}],
        results=[{"type": "u64", "value": "5"}],
        gas={"total": 1_200, "own": 1_193},
        steps=[check, event],
    )
    move_call = command("MoveCall", package=OURS, function="increase", steps=[increase])
    values = "&mut Counter {value: 0} ⇒ Counter {value: 5}, 5"
    increased = f"{SHORT}::counter::increase({values})"
    assert lines(command_tree(move_call, SUCCESS, VIEW)) == [
        f"0 MoveCall {SHORT}::counter::increase",
        f"└── {increased} → 5  gas 1,200, own 1,193",
        f"    ├── {SHORT}::counter::check(5)  gas 7",
        f"    └── event {SHORT}::counter::Increased {{by: 5}}",
    ]


def test_trace_shows_why_a_call_failed():
    check = call("check", status="failed")
    tree = command_tree(
        command("MoveCall", package=OURS, function="check", status="unwound", steps=[check]),
        ABORT,
        VIEW,
    )
    assert lines(tree)[1] == (
        f"└── {SHORT}::counter::check()  ✗ abort 7 in {SHORT}::counter::check, instruction 8"
    )


def test_clever_error_is_shown_with_its_constant():
    clever = {"line": 58, "code": None, "constant": "ENotOdd", "value": "must be odd", "bcs": None}
    assert failure_text(ABORT | {"clever_error": clever}, VIEW) == (
        f"abort ENotOdd (must be odd), line 58 in {SHORT}::counter::check, instruction 8"
    )
    nameless = clever | {"constant": None, "value": None}
    assert failure_text(ABORT | {"clever_error": nameless}, VIEW).startswith("abort, line 58 in")


def test_trace_shows_arguments_and_results_of_other_commands():
    source = {"kind": "gas_coin"}
    split = command(
        "SplitCoins",
        arguments=[
            {"source": source, "type": "", "value": "Coin {}", "after": "Coin {}"},
            {"source": {"kind": "input", "index": 0}, "type": "u64", "value": "5"},
            {"source": {"kind": "result", "command": 1, "index": 2}},
        ],
        results=[{"type": "", "value": "Coin<SUI> {balance: 5}"}],
    )
    assert lines(command_tree(split, SUCCESS, VIEW)) == [
        "0 SplitCoins(gas coin, 5, result 1.2) → Coin<SUI> {balance: 5}"
    ]
    publish = command("Publish", modules=["counter", None], package=OURS)
    assert lines(command_tree(publish, SUCCESS, VIEW)) == [f"0 Publish counter, ? → {SHORT}"]
    late = command("MergeCoins", status="not_run")
    assert lines(command_tree(late, ABORT, VIEW)) == ["0 MergeCoins() not run"]


def test_untrusted_values_in_a_trace_cannot_control_the_terminal():
    argument = {"source": {"kind": "input", "index": 0}, "type": "", "value": '"\x1b[31m[red]"'}
    tree = command_tree(command("MakeMoveVec", arguments=[argument]), SUCCESS, VIEW)
    assert lines(tree) == ['0 MakeMoveVec("�[31m[red]")']


# --- The command


def test_trace_prints_transaction_in_the_terminal(user, chain):
    executed = chain.fund(Address.of(0xB0B), 5)
    result = user.run("localnet", "trace", executed.digest)
    assert result.code == 0, result.stderr
    assert f"transaction {executed.digest}" in result.stdout
    assert "  status      succeeded\n" in result.stdout
    assert "0 SplitCoins(gas coin, 5) → Coin<SUI> {id: 0x" in result.stdout
    assert "1 TransferObjects(Coin<SUI> {id: 0x" in result.stdout
    created = next(
        line.split() for line in result.stdout.splitlines() if line.startswith(" created")
    )
    assert created[2:] == ["0x2::coin::Coin<0x2::sui::SUI>", "2", "0xb0b"]
    assert "  computation  0.001 SUI\n" in result.stdout


def test_json_has_the_whole_trace(user, chain):
    executed = chain.fund(Address.of(0xB0B), 5)
    trace = user.json("localnet", "trace", str(executed.digest), "--depth", "1")
    assert trace["digest"] == str(executed.digest)
    assert trace["is_faithful"]
    assert [each["kind"] for each in trace["commands"]] == ["SplitCoins", "TransferObjects"]
    assert trace["commands"][0]["arguments"][1]["value"] == "5"


def test_framework_and_natives_options_show_more_calls(user, chain):
    chain.advance_clock(1_000)
    digest = chain.call(lambda net: net.node.ledger.latest.transactions[0].digest)
    usual = user.run("localnet", "trace", digest).stdout
    prologue = "└── 0x2::clock::consensus_commit_prologue(&mut Clock {id: 0x6, timestamp_ms: "
    assert prologue in usual
    assert "tx_context::sender" not in usual
    whole = user.run("localnet", "trace", digest, "--framework", "--natives", "--full").stdout
    assert "    └── 0x2::tx_context::sender(&TxContext) → 0x0" in whole
    assert "        └── native 0x2::tx_context::native_sender() → 0x0" in whole


@pytest.fixture
def unsent_file(tmp_path):
    """Writes a transaction that pays 5 MIST and then aborts, as people have it: its file."""
    builder = TransactionBuilder()
    split = builder.split_coins(builder.gas, [5])
    builder.transfer_objects([split[0]], Address.of(0xB0B))
    builder.move_call(MOVE_STDLIB, "ascii", "char", [builder.pure(u8, 200)])
    sender = Address.of(0xA11CE)
    data = TransactionData(builder.finish(), sender, GasData((), sender, 0, 0), NoExpiration())
    path = tmp_path / "transaction"
    path.write_text(f"{b64encode(data.encode()).decode()}\n")
    return path


def test_simulated_trace_shows_where_an_unsent_transaction_fails(user, unsent_file):
    result = user.run("localnet", "trace", "--simulate", unsent_file)
    assert result.code == 0, result.stderr
    assert result.stdout.startswith("simulation of transaction ")
    assert "  status      failed in command 2: abort 65536 in 0x1::ascii::char" in result.stdout
    assert "checkpoint" not in result.stdout
    assert "0 SplitCoins(gas coin, 5) → Coin<SUI> {id: 0x" in result.stdout
    assert "└── 0x1::ascii::char(200)  ✗ abort 65536" in result.stdout


def test_trace_reads_transaction_from_stdin_and_prints_json(user, unsent_file):
    result = user.run(
        "localnet", "trace", "--simulate", "-", "--json", stdin=unsent_file.read_text()
    )
    trace = result.document
    assert (trace["is_simulated"], trace["status"]["abort_code"]) == (True, "65536")
    assert [each["status"] for each in trace["commands"]] == ["returned", "returned", "unwound"]


def test_simulate_rejects_executed_transaction(user, chain, tmp_path):
    executed = chain.fund(Address.of(0xB0B), 5)
    path = tmp_path / "sent"
    path.write_bytes(b64encode(executed.data_bytes))
    assert user.fails("localnet", "trace", "--simulate", path) == (4, "transaction_executed")


def test_simulate_reports_transaction_that_the_network_rejects(user, chain, tmp_path):
    elsewhere = ValidDuring(None, None, None, None, Digest(b"\1" * 32), 0)
    data = replace(chain.fund(Address.of(0xB0B), 5).data, expiration=elsewhere)
    path = tmp_path / "refused"
    path.write_bytes(b64encode(data.encode()))
    assert user.fails("localnet", "trace", "--simulate", path) == (5, "invalid_chain_id")


@pytest.mark.parametrize("text", ["", "?", "AAAA", "De88GMSnf9BqundkV9FCYXwPFHG6Weyg3GjBkjWqxtj"])
def test_simulate_rejects_invalid_transaction_file(user, tmp_path, text):
    path = tmp_path / "nothing"
    path.write_text(text)
    result = user.run("localnet", "trace", "--simulate", path, "--json")
    assert (result.code, result.error["code"]) == (7, "transaction_invalid")
    assert str(path) in result.error["message"]
    assert "TransactionData" in result.error["hint"]


def test_trace_needs_either_a_digest_or_a_file(user, unsent_file, tmp_path):
    both = ("localnet", "trace", "1" * 32, "--simulate", unsent_file)
    assert user.fails(*both) == (2, "usage")
    assert user.fails("localnet", "trace") == (2, "usage")
    lost = tmp_path / "lost"
    assert user.fails("localnet", "trace", "--simulate", lost) == (2, "output_file_unreadable")


def test_trace_reports_unknown_transaction(user):
    assert user.fails("localnet", "trace", "1" * 32) == (3, "transaction_not_found")
    assert user.fails("localnet", "trace", "0OIl") == (7, "digest_invalid")


def test_trace_reports_unreachable_network(home):
    home.configure(network="own", networks={"own": {"url": "http://127.0.0.1:1"}})
    assert home.fails("localnet", "trace", "1" * 32) == (6, "localnet_unreachable")


@pytest.mark.parametrize("body", [b'{"error": "nothing here"}', b"[]", b"<p>"])
async def test_trace_fails_when_the_network_is_not_a_localnet(home, serve_app, body):
    async def app(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": body})

    url = await serve_app(app)
    home.configure(network="own", networks={"own": {"url": url}})
    result = await run_sync(lambda: home.spawn("localnet", "trace", "1" * 32, "--json"))
    assert (result.code, result.error["code"]) == (4, "trace_unsupported")


def test_trace_warns_when_it_is_unfaithful_or_incomplete(user, chain, capsys):
    executed = chain.fund(Address.of(0xB0B), 5)
    trace = user.json("localnet", "trace", str(executed.digest))
    show_trace(Output(), trace | {"is_faithful": False, "left_out": 3, "commands": []}, VIEW)
    error = capsys.readouterr().err
    assert "its effects differ from the effects on the chain" in error
    assert "3 calls exceed the limits of the trace and are omitted" in error
