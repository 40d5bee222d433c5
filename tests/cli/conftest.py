"""The real command line, called in this process, on a real network that all tests share."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from nexus_tools.cli import app
from nexus_tools.sui.keystore import Wallet
from nexus_tools.sui.localnet import ThreadedLocalnet

EXAMPLES = Path(__file__).parents[2] / "examples"
MIST_PER_SUI = 1_000_000_000


@dataclass(frozen=True)
class Result:
    """The output and the exit code of a command."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        """The error of `--json`, the last line of stderr."""
        return json.loads(self.stderr.splitlines()[-1])["error"]


@dataclass(frozen=True)
class Daemon:
    """A process, and the line in which it said that it works."""

    process: "subprocess.Popen[str]"
    line: str

    def wait_for(self, word: str) -> str:
        """The next line on stderr with a word in it."""
        return read_until(self.process.stderr, word)

    def end(self, number: int = signal.SIGTERM) -> Result:
        """Send a signal, and wait for the end."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return Result(self.process.returncode, out, err)


class Home:
    """One user: folders of its own, a wallet, and ways to run `nexus-tools`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data" / "nexus-tools"
        self.cache = folder / "cache"
        self.config_file = folder / "config" / "nexus-tools" / "config.toml"
        self.environment = {
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_CACHE_HOME": str(self.cache),
            "HOME": str(folder),
        }
        self._daemons: list[subprocess.Popen[str]] = []

    def run(self, *arguments: Any, stdin: Any = "", **environment: str) -> Result:
        """Run a command in this process."""
        out, err = _stream(), _stream()
        with (
            _environment(self.environment | environment),
            _program(arguments, stdin),
            redirect_stdout(out),
            redirect_stderr(err),
            pytest.raises(SystemExit) as ended,
        ):
            app.run()
        return Result(ended.value.code, _text(out), _text(err))

    def json(self, *arguments: Any, **environment: str) -> Any:
        """Run a command with `--json`, which has to succeed."""
        result = self.run(*arguments, "--json", **environment)
        assert result.code == 0, result.stderr
        return result.document

    def fails(self, *arguments: Any, **environment: str) -> tuple[int, str]:
        """Run a command with `--json`, which has to fail; gives exit code and error code."""
        result = self.run(*arguments, "--json", **environment)
        return result.code, result.error["code"]

    def process(self, *arguments: Any, **environment: str) -> "subprocess.Popen[str]":
        """Start a command as a process, which is ended with the test at the latest."""
        process = subprocess.Popen(
            [sys.executable, "-m", "nexus_tools", *map(str, arguments)],
            env=self.process_environment | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._daemons.append(process)
        return process

    @property
    def process_environment(self) -> dict[str, str]:
        """The environment of the user's processes."""
        return _clean() | self.environment

    def spawn(self, *arguments: Any, stdin: str | None = None, **environment: str) -> Result:
        """Run a command as a process, to its end."""
        process = self.process(*arguments, **environment)
        out, err = process.communicate(stdin, timeout=60)
        return Result(process.returncode, out, err)

    def daemon(self, word: str, *arguments: Any, **environment: str) -> "Daemon":
        """Start a command that stays, and wait for the line on stderr with `word` in it."""
        process = self.process(*arguments, **environment)
        assert process.stderr is not None
        return Daemon(process, read_until(process.stderr, word))

    def end_daemons(self) -> None:
        for process in self._daemons:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)

    def configure(self, **document: Any) -> None:
        """Write the file of settings. Commands wait for the network `test` on a busy machine."""
        if document.get("network") == "test":
            document = {"timeout": "100s"} | document
        self.config_file.parent.mkdir(parents=True, exist_ok=True)
        self.config_file.write_text(tomli_w.dumps(document))

    @property
    def settings(self) -> Any:
        """The file of settings."""
        return tomllib.loads(self.config_file.read_text())

    @property
    def wallet(self) -> Wallet:
        return Wallet(self.data / "sui.keystore")


def read_until(stream: Any, word: str) -> str:
    """The first line with a word in it; fails when the stream ends without one."""
    seen = []
    for line in stream:
        seen.append(line)
        if word in line:
            return line
    raise AssertionError(f"no line with {word!r}: {seen}")


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    return stream.buffer.getvalue().decode()


def _clean() -> dict[str, str]:
    prefixes = ("NEXUS_", "XDG_", "BIND_ADDR", "FORCE_COLOR", "NO_COLOR")
    return {key: value for key, value in os.environ.items() if not key.startswith(prefixes)}


@contextmanager
def _environment(values):
    with pytest.MonkeyPatch.context() as patch:
        for key in set(os.environ) - set(_clean()):
            patch.delenv(key)
        for key, value in values.items():
            patch.setenv(key, value)
        yield


@contextmanager
def _program(arguments, stdin):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["nexus-tools", *map(str, arguments)])
        typed = io.TextIOWrapper(io.BytesIO(stdin.encode())) if isinstance(stdin, str) else stdin
        patch.setattr(sys, "stdin", typed)
        yield


@pytest.fixture(scope="session")
def published_network(tmp_path_factory):
    """Start the network of this process and publish the package; return it and the admin's home."""
    home = Home(tmp_path_factory.mktemp("publisher"))
    with ThreadedLocalnet() as net:
        home.configure(network="test", networks={"test": {"url": net.url, "faucet_url": net.url}})
        account, _ = home.wallet.new("admin")
        net.fund(account.address, 50 * MIST_PER_SUI)
        home.json("package", "publish", "--yes")
        yield net, home


@pytest.fixture(scope="module")
def chain(published_network):
    """Return a network that all tests of a module share, and revert their changes at its end."""
    net, _ = published_network
    snapshot = net.snapshot()
    yield net
    net.revert(snapshot)


@pytest.fixture(scope="module")
def publisher(chain, published_network, tmp_path_factory):
    """Return the admin, who published the package, with files of this module."""
    _, published = published_network
    home = Home(tmp_path_factory.mktemp("publisher"))
    shutil.copytree(published.folder, home.folder, dirs_exist_ok=True)
    return home


@pytest.fixture
def home(tmp_path):
    """A user who has nothing yet."""
    user = Home(tmp_path)
    yield user
    user.end_daemons()


@pytest.fixture
def compiler(home, lend_compiler):
    """The Move compiler, which the user has."""
    lend_compiler(home.cache)


@pytest.fixture(scope="module")
def new_home(tmp_path_factory):
    """Makes users with a key, who know what another user knows of networks and the package."""
    made = []

    def make(alias: str, known: Home) -> Home:
        user = Home(tmp_path_factory.mktemp(alias))
        user.configure(**known.settings)
        user.wallet.new(alias)
        made.append(user)
        return user

    yield make
    for user in made:
        user.end_daemons()


@pytest.fixture
def author(home, chain, publisher):
    """A user with 20 SUI who knows the network and the package."""
    home.configure(**publisher.settings)
    account, _ = home.wallet.new("author")
    chain.fund(account.address, 20 * MIST_PER_SUI)
    return home


@pytest.fixture
def stranger(chain, publisher, new_home):
    """Another user with 20 SUI."""
    user = new_home("stranger", publisher)
    chain.fund(user.wallet.signer().address, 20 * MIST_PER_SUI)
    return user


@pytest.fixture
def examples():
    """The folder of the examples."""
    return EXAMPLES


@pytest.fixture(scope="session")
def tool_server_url(tmp_path_factory):
    """The URL of a server with the tools of `examples/tools.py`."""
    home = Home(tmp_path_factory.mktemp("server"))
    tools = EXAMPLES / "tools.py"
    server = home.daemon("divide@1", "tool", "serve", tools, BIND_ADDR="127.0.0.1:0")
    yield server.line.strip().rsplit("/", 1)[0].split(" at ")[1]
    home.end_daemons()


@pytest.fixture
def definition(request):
    """A definition whose name belongs to this test alone."""
    return make_definition(request.node.name)


def make_definition(test: str, **changes: Any) -> dict[str, Any]:
    name = "t" + "".join(one if one.isalnum() else "-" for one in test.lower())[:100]
    ports = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    variant = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    return {
        "fqn": f"xyz.test.{name}@1",
        "type": "offchain",
        "url": "https://tools.example.com/add",
        "description": "Adds two integers.",
        "timeout": 5_000,
        "input_schema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
        "output_schema": {"type": "object", "oneOf": [variant]},
        **changes,
    }


@pytest.fixture
def meta_file(tmp_path):
    """Writes definitions to a file and gives its path."""

    def write(document: Any) -> Path:
        path = tmp_path / "meta.json"
        path.write_text(json.dumps(document))
        return path

    return write


@pytest.fixture(scope="module")
def operator(chain, publisher, new_home):
    """Return the owner of a leader that is active but does not run."""
    user = new_home("operator", publisher)
    chain.fund(user.wallet.signer().address, 20 * MIST_PER_SUI)
    user.json("leader", "register", "--yes")
    return user


@pytest.fixture(scope="module")
def operator_leader(operator):
    """The id of the operator's leader."""
    [row] = operator.json("leader", "status")
    return row["leader"]


@pytest.fixture
def registered_fqn(author, definition, meta_file, operator_leader):
    """The FQN of a tool that the author registered, with a price, for the operator's leader."""
    terms = ("--price", "0.001", "--leader", operator_leader)
    author.json("tool", "register", "--from-meta", meta_file(definition), *terms, "--yes")
    return definition["fqn"]


class Typist(io.StringIO):
    """A terminal at which a user types these lines.

    A callable is called when its line is read, and returns the line.
    """

    def __init__(self, *lines: "str | Callable[[], str]") -> None:
        super().__init__()
        self._lines = list(lines)

    def isatty(self) -> bool:
        return True

    def readline(self, *_: Any) -> str:
        line = self._lines.pop(0) if self._lines else ""
        return (line if isinstance(line, str) else line()) + "\n"


@pytest.fixture
def release(monkeypatch, next_package):
    """From here on nexus-tools comes with a package that asks for a migration."""

    def release(package=next_package):
        monkeypatch.setattr("nexus_tools.contracts.load_package", lambda: package)

    return release


@pytest.fixture(scope="module")
def halve_fqn(publisher, new_home, chain, operator_leader, tool_server_url, tmp_path_factory):
    """The FQN of a workflow of one registered tool with a price."""
    seller = new_home("seller", publisher)
    chain.fund(seller.wallet.signer().address, 60 * 10**9)
    terms = ("--price", "0.05", "--leader", operator_leader)
    seller.json("tool", "register", "--url", tool_server_url, "--all", *terms, "--yes")
    kind = {"variant": "off_chain", "tool_fqn": "xyz.example.math.divide@1"}
    ports = [{"name": "dividend"}, {"name": "divisor"}]
    vertex = {"name": "halve", "kind": kind, "entry_ports": ports}
    file = tmp_path_factory.mktemp("flow") / "flow.json"
    file.write_text(json.dumps({"vertices": [vertex], "edges": []}))
    seller.json("workflow", "publish", file, "--name", "xyz.example.halve@1", "--yes")
    return "xyz.example.halve@1"
