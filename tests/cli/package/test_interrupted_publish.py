"""Tests that `package publish` resumes after an interruption during a transaction."""

import asyncio
import signal

import pytest

from nexus_tools.sui.client.transactions import transaction_attempts
from tests.cli.conftest import Typist

FUNDS_MIST = 20 * 10**9


@pytest.fixture
def newcomer(home, chain):
    """A user with 20 SUI on a network without the package."""
    home.configure(network="test", networks={"test": {"url": chain.url, "faucet_url": chain.url}})
    account, _ = home.wallet.new("newcomer")
    chain.fund(account.address, FUNDS_MIST)
    return home


class Sending:
    """Sends transactions, with Ctrl-C around one of them; `executed` are those that were."""

    def __init__(self, real, *, stopped_at, after):
        self._real, self._stopped_at, self._after = real, stopped_at, after
        self._count = 0
        self.executed = {}

    async def __call__(self, *arguments):
        is_stopped = self._count == self._stopped_at
        self._count += 1
        if is_stopped and not self._after:
            await self._stop()
        executed = await self._real(*arguments)
        self.executed[executed.digest] = executed.cost.net
        if is_stopped:
            await self._stop()
        return executed

    async def _stop(self):
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()  # until the signal cancels it


@pytest.fixture
def interrupt(monkeypatch):
    def interrupt(stopped_at, *, after):
        sending = Sending(
            transaction_attempts.execute_transaction, stopped_at=stopped_at, after=after
        )
        monkeypatch.setattr(transaction_attempts, "execute_transaction", sending)
        return sending

    return interrupt


@pytest.mark.parametrize(
    "stopped_at", [*(pytest.param(each, marks=pytest.mark.long) for each in range(3)), 3]
)
@pytest.mark.parametrize("after", [True, False], ids=["executed", "not executed"])
def test_publish_resumes_after_an_interruption(newcomer, interrupt, stopped_at, after):
    sending = interrupt(stopped_at, after=after)
    stopped = newcomer.run("package", "publish", "--yes")
    assert stopped.code == 130
    assert "Run the same command again to continue without paying twice" in stopped.stderr
    document = newcomer.json("package", "publish", "--yes")
    spent = FUNDS_MIST - newcomer.json("wallet", "show")["balance_mist"]
    assert spent == document_cost(sending, document)
    assert newcomer.json("package", "show")["dag_registry"] == document["dag_registry"]
    assert list((newcomer.data / "publishing").glob("*")) == []


def document_cost(sending, document):
    """The cost of the four transactions that a publication takes: more were not executed."""
    costs = sending.executed | {
        each["digest"]: each["cost_mist"] for each in document["transactions"]
    }
    by_text = {str(digest): cost for digest, cost in costs.items()}
    assert len(by_text) == 4
    return sum(by_text.values())


def test_dry_run_does_not_resume_an_interrupted_publication(newcomer, interrupt):
    interrupt(1, after=False)
    assert newcomer.run("package", "publish", "--yes").code == 130
    before = newcomer.json("wallet", "show")
    assert newcomer.json("package", "publish", "--dry-run")["dry_run"] is True
    assert newcomer.json("wallet", "show") == before


def test_publish_again_resumes_after_an_interruption(newcomer, interrupt):
    first = newcomer.json("package", "publish", "--yes")
    sending = interrupt(0, after=True)
    assert newcomer.run("package", "publish", "--republish", "--yes").code == 130
    second = newcomer.json("package", "publish", "--republish", "--yes")
    assert second["tool_registry"] != first["tool_registry"]
    assert len(sending.executed) == 3


@pytest.mark.usefixtures("compiler")
def test_publishing_a_folder_resumes_after_an_interruption(newcomer, interrupt, tmp_path):
    package = tmp_path / "one"
    (package / "sources").mkdir(parents=True)
    (package / "Move.toml").write_text('[package]\nname = "one"\nedition = "2024"\n')
    (package / "sources" / "main.move").write_text("module one::main;\npublic fun one() {}\n")
    sending = interrupt(0, after=True)
    assert newcomer.run("package", "publish", package, "--yes").code == 130
    published = newcomer.json("package", "publish", package, "--yes")
    assert [published["digest"]] == [str(each) for each in sending.executed]
    assert newcomer.json("package", "publish", package, "--yes")["digest"] != published["digest"]


def test_declined_publish_names_what_was_sent_and_continues(newcomer):
    declined = newcomer.run("package", "publish", stdin=Typist("y", "n"))
    assert declined.code == 1
    assert "the remaining 3 steps cost at most about 1.1" in declined.stderr
    assert "Step 1 of 3. The simulation succeeded: published the immutable" in declined.stderr
    assert (
        "Step 2 of 3. The simulation succeeded: published the package of tools" in declined.stderr
    )
    spent = FUNDS_MIST - newcomer.json("wallet", "show")["balance_mist"]
    assert spent > 0
    assert "nothing was done" not in declined.stderr
    assert "cancelled after this transaction was sent: " in declined.stderr
    assert "Run the same command again to continue without paying twice." in declined.stderr
    finished = newcomer.run("package", "publish", stdin=Typist("y", "y"))
    assert finished.code == 0, finished.stderr
    assert "Step 2 of 2. The simulation succeeded: published the package of workflows" in (
        finished.stderr
    )


def test_declined_first_step_of_publish_sends_nothing(newcomer):
    declined = newcomer.run("package", "publish", stdin=Typist("n"))
    assert "cancelled: nothing was done" in declined.stderr
    assert newcomer.json("wallet", "show")["balance_mist"] == FUNDS_MIST
