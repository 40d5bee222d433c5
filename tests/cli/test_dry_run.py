"""`--dry-run` has no effect, in any command that takes it: one long life of a deployment."""

import hashlib
import json

import click
import pytest

from nexus_tools.cli.app import app
from nexus_tools.sui.types.transaction import ProgrammableTransaction

KIND = ProgrammableTransaction  # the network's clock makes others
MIST_PER_SUI = 1_000_000_000
DAY_MS = 86_400_000
TOOL = '''
from pathlib import Path

from nexus_tools.tool_server import Variant, tool


class Done(Variant, name="ok"):
    total: int


@tool("xyz.dry.served@1")
def served() -> Done:
    """Leaves a trace of each call."""
    Path(__file__).with_name("called").touch()
    return Done(total=1)
'''


def commands_with_dry_run():
    """The paths of all commands that take --dry-run."""

    def walk(command, context, path):
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), context, (*path, name))
        elif any("--dry-run" in option.opts for option in command.params):
            yield " ".join(path)

    return set(walk(app, click.Context(app), ()))


class Life:
    """Commands of two users, each preceded by a dry run."""

    def __init__(self, chain, *folders):
        self.chain, self.folders = chain, folders
        self.rehearsed = set()

    def do(self, user, *words):
        """Run a command with --yes."""
        return user.json(*words, "--yes")

    def rehearse(self, user, *words):
        """Run a command with --dry-run: it succeeds, and nothing is different afterwards."""
        before = self._state()
        result = user.run(*words, "--dry-run", "--json")
        assert result.code == 0, (words, result.stderr)
        assert result.document["dry_run"] is True, words
        self.note(words)
        assert self._state() == before, words

    def note(self, words):
        """Remember that a command was run."""
        known = commands_with_dry_run()
        lengths = range(1, len(words) + 1)
        self.rehearsed |= {" ".join(map(str, words[:n])) for n in lengths} & known

    def _state(self):
        """Return the transactions, and the files without cached checks of packages."""
        executed = self.chain.call(lambda localnet: localnet.node.ledger.transactions(0, 10_000))
        sent = [each.digest for each in executed if isinstance(each.data.kind, KIND)]
        files = [path for each in self.folders for path in each.rglob("*") if path.is_file()]
        kept = [path for path in files if "compatible-packages" not in path.parts]
        return sent, {path: hashlib.sha256(path.read_bytes()).digest() for path in kept}


@pytest.fixture
def owner(home, chain):
    """Return the user who publishes the packages and owns everything."""
    home.configure(network="test", networks={"test": {"url": chain.url}})
    account, _ = home.wallet.new("owner")
    chain.fund(account.address, *[50 * MIST_PER_SUI] * 6)
    return home


@pytest.fixture
def server(owner, tmp_path):
    """The URL of the tool that leaves a trace."""
    (tmp_path / "tools.py").write_text(TOOL)
    arguments = ("tool", "serve", tmp_path / "tools.py")
    daemon = owner.daemon("served@1", *arguments, BIND_ADDR="127.0.0.1:0")
    return daemon.line.strip().split(" at ")[1]


@pytest.fixture
def files(owner, tmp_path, definition):
    """The files that commands are given: definitions by name, a workflow, keys, evidence."""
    ports = [{"name": "a"}, {"name": "b"}]
    kind = {"variant": "off_chain", "tool_fqn": "xyz.dry.main@1"}
    workflow = {"vertices": [{"name": "add", "kind": kind, "entry_ports": ports}], "edges": []}
    (tmp_path / "flow.json").write_text(json.dumps(workflow))
    (tmp_path / "evidence").write_text("abc")
    for name in ("main", "free", "gift", "gone", "new"):
        fqn = f"xyz.dry.{name}@1"
        (tmp_path / f"{name}.json").write_text(json.dumps(definition | {"fqn": fqn}))
    for name in ("first", "second"):
        owner.json("tool", "key", "new", tmp_path / f"{name}.pem")
    return tmp_path


MAIN, GONE, FREE = "xyz.dry.main@1", "xyz.dry.gone@1", "xyz.dry.free@1"
INPUT = ("--input", '{"a": 1, "b": 2}')
PROPOSE = ("package", "upgrade", "propose", "--sources", "https://code.example.com")


@pytest.mark.long
def test_dry_run_changes_nothing_in_any_command(
    owner, new_home, chain, server, files, release, tmp_path
):
    life = Life(chain, tmp_path)
    do, rehearse = life.do, life.rehearse
    rehearse(owner, "package", "publish")
    do(owner, "package", "publish", "--free")
    rehearse(owner, "package", "lock")
    do(owner, "package", "lock")
    other = new_home("other", owner)
    life.folders += (other.folder,)
    to = str(other.wallet.signer().address)
    chain.fund(other.wallet.signer().address, 50 * MIST_PER_SUI)

    leaders(life, owner, other, files, to)
    tools(life, owner, other, files, to, server)
    invocation = workflows(life, owner, files)
    administration(life, owner, other, files, to, release)
    rehearse(owner, "wallet", "transfer", to, "0.1")
    rehearse(owner, "wallet", "merge")

    chain.advance_clock(3 * DAY_MS)
    rehearse(owner, "tool", "outcome", invocation, "--delete")
    rehearse(owner, "invocation", "delete", invocation)
    rehearse(owner, "admin", "slash", "execute", MAIN)
    do(owner, "admin", "slash", "execute", MAIN)
    rehearse(owner, "tool", "top-up", MAIN)
    spare = leader_id(owner, "spare")
    do(owner, "admin", "slash", "execute", spare)
    rehearse(owner, "leader", "top-up", "--leader", "spare")

    chain.advance_clock(4 * DAY_MS)
    rehearse(owner, "tool", "claim", GONE)
    do(owner, "tool", "claim", GONE)
    rehearse(owner, "tool", "re-register", GONE)
    rehearse(owner, "leader", "claim", "--leader", "gone")
    do(owner, "leader", "claim", "--leader", "gone")
    rehearse(owner, "leader", "re-register", "--leader", "gone")

    chain.advance_clock(7 * DAY_MS)
    rehearse(owner, "package", "upgrade", "execute")

    # These need an execution that a leader works on: the tests of workflows rehearse them.
    of_executions = {"question answer", "workflow clean"}
    # These send no transactions: their own tests rehearse them.
    of_clients = {"mcp install", "mcp uninstall"}
    assert commands_with_dry_run() - life.rehearsed == of_executions | of_clients
    assert not (tmp_path / "called").exists()


def leader_id(user, name):
    return next(row["leader"] for row in user.json("leader", "status") if row["name"] == name)


def leaders(life, owner, other, files, to):
    """Leaders: `mine` is active, `spare` is not, `gone` is unregistered, `gift` is offered."""
    do, rehearse = life.do, life.rehearse
    first, second = files / "first.pem", files / "second.pem"
    rehearse(owner, "leader", "register", "--name", "mine")
    do(owner, "leader", "register", "--name", "mine", "--key", first)
    for name in ("spare", "gone", "gift"):
        do(owner, "leader", "register", "--name", name, "--inactive")
    mine = ("--leader", "mine")
    rehearse(owner, "leader", "worker", "add", to, *mine)
    do(owner, "leader", "worker", "add", to, *mine)
    rehearse(owner, "leader", "worker", "remove", to, *mine)
    rehearse(owner, "leader", "key", "add", second, *mine)
    rehearse(owner, "leader", "key", "remove", first, *mine)
    rehearse(owner, "leader", "activate", "--leader", "spare")
    rehearse(owner, "leader", "deactivate", *mine)
    rehearse(owner, "leader", "unregister", *mine)
    do(owner, "leader", "unregister", "--leader", "gone")
    rehearse(owner, "leader", "cancel-unregister", "--leader", "gone")
    rehearse(owner, "leader", "offer", to, "--leader", "gift")
    do(owner, "leader", "offer", to, "--leader", "gift")
    rehearse(other, "leader", "accept")


def tools(life, owner, other, files, to, server):
    """Tools: `main` has a price, `free` has none, `gone` is unregistered, `gift` is offered."""
    do, rehearse = life.do, life.rehearse
    first, second = files / "first.pem", files / "second.pem"
    by_mine = ("--leader", leader_id(owner, "mine"))
    spare = leader_id(owner, "spare")
    rehearse(owner, "tool", "register", "--url", server, "--check")
    rehearse(owner, "bridge", "register", "--url", server.rsplit("/", 1)[0])
    meta = ("tool", "register", "--from-meta")
    rehearse(owner, *meta, files / "new.json")
    do(owner, *meta, files / "main.json", "--price", "0.001", "--key", first, *by_mine)
    do(owner, *meta, files / "free.json", *by_mine)
    for name in ("gone", "gift"):
        do(owner, *meta, files / f"{name}.json")
    rehearse(owner, "tool", "update", MAIN, "--price", "0.002")
    rehearse(owner, "tool", "update", FREE, "--url", server, "--skip-validation")
    rehearse(owner, "tool", "key", "add", MAIN, second)
    rehearse(owner, "tool", "key", "remove", MAIN, first)
    rehearse(owner, "tool", "leaders", "add", MAIN, spare)
    rehearse(owner, "tool", "leaders", "remove", MAIN, by_mine[1])
    rehearse(owner, "tool", "leaders", "open", FREE)
    rehearse(owner, "tool", "operators", "add", MAIN, to)
    do(owner, "tool", "operators", "add", MAIN, to)
    rehearse(owner, "tool", "operators", "remove", MAIN, to)
    rehearse(owner, "tool", "offer", "xyz.dry.gift", to)
    do(owner, "tool", "offer", "xyz.dry.gift", to)
    rehearse(other, "tool", "accept", "xyz.dry.gift")
    rehearse(owner, "tool", "unregister", MAIN)
    do(owner, "tool", "unregister", GONE)
    rehearse(owner, "tool", "cancel-unregister", GONE)


def workflows(life, owner, files):
    """Create an invocation, executions and schedules without a leader. Return the invocation ID."""
    do, rehearse = life.do, life.rehearse
    rehearse(owner, "tool", "invoke", MAIN, *INPUT)
    invocation = do(owner, "tool", "invoke", MAIN, *INPUT, "--no-wait")["invocation"]
    publish = ("workflow", "publish", files / "flow.json", "--name", "xyz.dry.flow@1")
    rehearse(owner, *publish)
    do(owner, *publish)
    run = ("workflow", "run", "xyz.dry.flow@1", *INPUT)
    rehearse(owner, *run)
    execution = do(owner, *run)["execution"]
    rehearse(owner, "workflow", "refill", execution, "0.1")
    rehearse(owner, "workflow", "cancel", execution)
    scheduled = ("schedule", "create", "xyz.dry.flow@1", *INPUT, "--funds", "1")
    create = (*scheduled, "--every", "1h", "--max-executions", "2")
    rehearse(owner, *create)
    active, paused = (do(owner, *create)["schedule"] for _ in range(2))
    rehearse(owner, "schedule", "pause", active)
    rehearse(owner, "schedule", "refill", active, "0.1")
    rehearse(owner, "schedule", "cancel", active)
    rehearse(owner, "schedule", "extend", active, "--add-executions", "3")
    by_event = do(owner, *scheduled, "--on-event", "0x2::coin::Minted")["schedule"]
    rehearse(owner, "schedule", "reset-cursor", by_event)
    do(owner, "schedule", "pause", paused)
    rehearse(owner, "schedule", "resume", paused)
    return invocation


def administration(life, owner, other, files, to, release):
    """A slash is proposed for the tool `main` and the leader `spare`, and an upgrade."""
    do, rehearse = life.do, life.rehearse
    rehearse(owner, "admin", "configure", "tools", "min_timeout_ms=1500")
    why = ("--reason", "lied", "--evidence", files / "evidence")
    rehearse(owner, "admin", "slash", "propose", MAIN, "0.1", *why)
    do(owner, "admin", "slash", "propose", MAIN, "0.1", *why)
    do(owner, "admin", "slash", "propose", leader_id(owner, "spare"), "1", *why)
    rehearse(owner, "admin", "slash", "cancel", MAIN)
    rehearse(owner, "admin", "offer", to)
    do(owner, "admin", "offer", to)
    rehearse(other, "admin", "accept")
    rehearse(owner, "package", "make-immutable")
    rehearse(owner, "package", "upgrade", "offer", to)
    do(owner, "package", "upgrade", "offer", to)
    rehearse(other, "package", "upgrade", "accept")
    release()
    rehearse(owner, *PROPOSE)
    do(owner, *PROPOSE)
    rehearse(owner, "package", "upgrade", "cancel")
