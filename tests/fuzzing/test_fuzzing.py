"""`scripts/fuzz`: the targets run, and failures are found, minimized, saved and found again."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
INPUTS = st.binary(max_size=20)
SECONDS = 2


def fuzz(*arguments, folder=ROOT):
    return subprocess.run(
        [sys.executable, "-m", "fuzzing", *map(str, arguments)],
        cwd=folder,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}"},
        capture_output=True,
        text=True,
        check=False,
    )


def run(monkeypatch, tmp_path, check, inputs=INPUTS):
    from fuzzing import runner

    target = SimpleNamespace(inputs=lambda: inputs, check=check)
    monkeypatch.setattr(runner, "load", lambda _: target)
    monkeypatch.setattr(runner, "limit_memory", lambda: None)
    found = runner.Run("planted", SECONDS, 7, tmp_path / "current")
    found.go_on()
    return found


def run_until_broken(monkeypatch, tmp_path, check, inputs=INPUTS):
    """Run a target on a clock that stands still until an input makes it fail."""
    from fuzzing import runner

    now = [0]
    monkeypatch.setattr(runner, "monotonic", lambda: now[0])

    def watched(data):
        try:
            return check(data)
        except BaseException:
            now[0] = SECONDS
            raise

    return run(monkeypatch, tmp_path, watched, inputs)


def test_failure_of_a_target_is_found_once_and_minimized(monkeypatch, tmp_path):
    def check(data):
        if any(byte > 0x7F for byte in data):
            raise ValueError("a bug")
        return "fine"

    found = run_until_broken(monkeypatch, tmp_path, check)
    (finding,) = found.findings
    assert finding.data == b"\x80"
    assert finding.summary == "ValueError: a bug"
    assert found.executions == found.outcomes.total() > found.outcomes["broken"] > 1


def test_slow_input_is_found(monkeypatch, tmp_path):
    from fuzzing import runner

    def check(data):
        while data == b"slow":
            pass
        return "fine"

    monkeypatch.setattr(runner, "_INPUT_SECONDS", 0.05)
    inputs = st.sampled_from([b"fast", b"slow"])
    found = run_until_broken(monkeypatch, tmp_path, check, inputs)
    assert [finding.data for finding in found.findings] == [b"slow"]


def test_run_stops_when_the_time_is_over(monkeypatch, tmp_path):
    from fuzzing import runner

    now, made = [0], []
    monkeypatch.setattr(runner, "monotonic", lambda: now[0])

    def check(data):
        now[0] = 10
        return "fine"

    found = run(monkeypatch, tmp_path, check, INPUTS.map(lambda data: made.append(data) or data))
    assert (found.executions, len(made)) == (1, 2)


def test_finding_is_saved_under_the_name_of_its_target(tmp_path):
    from fuzzing.finding import Finding

    path = Finding("reader", b"abc", "a summary").save(tmp_path)
    assert path.name.startswith("reader-")
    assert path.read_bytes() == b"abc"


@pytest.mark.long
def test_run_reports_its_work_and_reuses_saved_inputs(tmp_path):
    ended = fuzz("bcs", "reader", "--seconds", 1, "--seed", 5)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    assert sorted(line.split(":")[1] for line in lines) == [" bcs", " reader"]
    assert all("seed 5: 0 found" in line for line in lines)
    saved = tmp_path / "reader-0123.bin"
    saved.write_bytes(b"\xa1\x1c\xeb\x0b")
    again = fuzz("replay", saved)
    assert again.stdout == f"fuzz: {saved}: malformed\n"


def test_unknown_target_is_a_usage_error():
    ended = fuzz("nothing")
    assert ended.returncode == 2
    assert "unknown target nothing" in ended.stderr


PROGRAMS = b"""module programs::programs {
    public fun run_0(number: u8): u16 { (number as u16) + 1 }
}
"""


def test_programs_are_compiled_and_run_in_both_machines(move_builder, tmp_path):
    saved = tmp_path / "programs-0123.bin"
    saved.write_bytes(PROGRAMS)
    assert fuzz("replay", saved).stdout == f"fuzz: {saved}: all return\n"


def test_program_with_a_different_result_in_the_real_machine_is_found(move_builder, monkeypatch):
    from differential import exposed_packages
    from fuzzing.finding import Broken
    from fuzzing.programs import check
    from genuine import ABORTED, Outcome

    monkeypatch.setattr(exposed_packages, "call_reference", lambda *_: Outcome(ABORTED, 5))
    with pytest.raises(Broken, match=r"^ours: RETURNED, genuine VM: ABORTED: .*::run_0\("):
        check(PROGRAMS)


def test_program_that_does_not_compile_is_not_a_finding(move_builder):
    from fuzzing.programs import check

    assert check(b"module programs::programs { public fun run_0(): u8 { true } }") == (
        "refused by the compiler"
    )


def test_funds_sent_to_an_address_balance_are_conserved():
    from fuzzing.network import argument, network, transaction
    from fuzzing.transactions import check
    from nexus_tools.sui.transaction_builder import TransactionBuilder
    from nexus_tools.sui.types.address import Address
    from nexus_tools.sui.types.type_tag import GAS_COIN, SUI

    net = network()
    net.restart()
    alice = net.accounts[0]
    _, coin, *_ = net.node.ledger.owned_by(alice.address, GAS_COIN)
    builder = TransactionBuilder()
    arguments = [builder.resolved(argument(coin)), builder.address(alice.address)]
    builder.move_call(Address.of(2), "coin", "send_funds", arguments, [SUI])
    data = transaction(net.node, alice, builder)
    assert check(b"\0" + data.encode()) == "success"
