import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires

import pytest

from nexus_tools.cli import app
from nexus_tools.cli.framework.extras import EXTRA_BY_MODULE

HEAVY = ("pysui", "pydantic", "starlette", "rich", "jsonschema", "httpx", "asyncio")


@pytest.mark.parametrize("command", [[], ["tool"], ["tool", "register"], ["leader"], ["localnet"]])
def test_help_imports_nothing_heavy(command):
    program = (
        "import sys; from nexus_tools.cli.app import app\n"
        f"app({[*command, '--help']!r}, standalone_mode=False)\n"
        f"print('loaded', sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded []"


def test_commands_import_httpx_without_its_command_line():
    program = (
        "import sys; from nexus_tools.cli import main\n"
        "sys.argv[1:] = ['--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    import httpx\n"
        "print(hasattr(httpx, 'AsyncClient'), 'rich' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "True False"


def commands(group, path=()):
    from click import Context, Group

    context = Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize("path", list(commands(app.app)), ids=" ".join)
def test_every_command_has_help(home, path):
    result = home.run(*path, "--help")
    assert result.code == 0
    assert result.stdout.startswith(f"Usage: nexus-tools {' '.join(path)} ")


WITHOUT_ACCOUNT = (
    "admin show",
    "index fetch",
    "index rebuild",
    "index run",
    "index serve",
    "index snapshot",
    "index status",
    "localnet advance-clock",
    "localnet trace",
    "network show",
    "network transaction",
    "package upgrade watch",
    "package use",
    "tool key list",
    "tool operators list",
    "tool show",
    "tool watch",
    "workflow cost",
)


@pytest.mark.parametrize("command", WITHOUT_ACCOUNT)
def test_command_without_account_has_no_signing_options(home, command):
    shown = home.run(*command.split(), "--help").stdout
    assert "--network" in shown
    assert "--wallet" not in shown
    assert "--signer" not in shown


def test_version_equals_that_of_the_package(home):
    from nexus_tools import __version__

    assert home.run("--version").stdout.strip() == f"nexus-tools, version {__version__}"


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [(["tol"], "tool"), (["tool", "regster"], "register"), (["localnet", "advance-clok"], "clock")],
)
def test_misspelled_command_gets_a_suggestion(home, arguments, suggestion):
    result = home.run(*arguments)
    assert result.code == 2
    assert "Did you mean" in result.stderr
    assert suggestion in result.stderr


def test_unknown_option_is_wrong_usage(home):
    result = home.run("tool", "list", "--colour", "red")
    assert (result.code, result.stdout) == (2, "")
    assert "--colour" in result.stderr
    assert "nexus-tools tool list --help" in result.stderr


def test_error_is_a_json_document_on_stderr_with_json_option(home):
    result = home.run("tool", "show", "no-fqn", "--json")
    assert (result.code, result.stdout) == (7, "")
    assert set(result.error) == {"code", "message", "hint", "details"}
    assert result.error["code"] == "fqn_invalid"


def test_error_has_a_hint_and_no_traceback_without_json_option(home):
    result = home.run("tool", "show", "no-fqn")
    assert "error: 'no-fqn' is not a valid FQN" in result.stderr
    assert "Write an FQN such as" in result.stderr
    assert "Traceback" not in result.stderr


def test_defect_is_reported_without_traceback(home, monkeypatch):
    def break_down(*_):
        raise ZeroDivisionError("of our own")

    monkeypatch.setattr("nexus_tools.sui.keystore.Wallet.accounts", break_down)
    result = home.run("wallet", "list", "--json")
    assert (result.code, result.error["code"]) == (1, "internal")
    assert "NEXUS_TOOLS_DEBUG" in result.error["hint"]


def test_missing_extra_is_named(home, tmp_path):
    """In a process of its own, where the library cannot be imported from the start."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['wasmtime'] = None\n")
    result = home.spawn("package", "build", tmp_path, "--json", PYTHONPATH=str(tmp_path))
    assert (result.code, result.error["code"]) == (2, "extra_not_installed")
    assert "nexus-tools[compiler]" in result.error["hint"]


def test_required_dependencies_are_not_listed_as_extras():
    always = {
        re.split(r"[^\w-]", each)[0] for each in requires("nexus-tools") if "extra" not in each
    }
    installed = packages_distributions()
    brought = {name for module in EXTRA_BY_MODULE for name in installed[module]}
    assert "protobuf" in always
    assert brought & always == set()


def test_debug_variable_shows_the_traceback_of_a_defect(home, monkeypatch):
    monkeypatch.setattr("nexus_tools.sui.keystore.Wallet.accounts", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        home.run("wallet", "list", NEXUS_TOOLS_DEBUG="1")


@pytest.mark.parametrize("everything", [False, True])
def test_closed_pipe_is_not_a_failure(home, everything):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "nexus_tools", "network", "list", "--json"]
    errors = write if everything else subprocess.PIPE
    done = subprocess.run(command, stdout=write, stderr=errors, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr or "") == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "-n", "testnet", "config", "show"),
        ("config", "--network=testnet", "--json", "show"),
    ],
)
def test_unsupported_option_before_the_noun_is_rejected(home, arguments):
    result = home.run(*arguments)
    assert (result.code, result.error["code"]) == (2, "usage")
    assert "nexus-tools config show --help" in result.error["hint"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "-n", "nowhere", "network", "show"),
        ("network", "--json", "--network", "nowhere", "show"),
        ("--network=nowhere", "network", "--json", "show"),
    ],
)
def test_shared_options_are_accepted_before_noun_and_verb(home, arguments):
    result = home.run(*arguments)
    assert (result.code, result.error["code"]) == (3, "network_unknown")


@pytest.mark.parametrize("arguments", [(), ("tool",), ("localnet",)])
def test_group_without_command_prints_help_and_no_error(home, arguments):
    result = home.run(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Usage: {' '.join(('nexus-tools', *arguments))} ")
    assert home.fails(*arguments) == (2, "usage")


@pytest.mark.parametrize("arguments", [("tool", "show", "no-fqn"), ("network", "use", "testnet")])
def test_no_color_variable_disables_colors(home, arguments):
    assert "\x1b[" in on_a_terminal(home, *arguments)
    assert "\x1b[" not in on_a_terminal(home, *arguments, NO_COLOR="1")


def on_a_terminal(home, *arguments, **environment):
    """Return the output of a command on a terminal."""
    import pty

    master, terminal = pty.openpty()
    with os.fdopen(master, "rb", 0) as screen:
        process = subprocess.Popen(
            [sys.executable, "-m", "nexus_tools", *arguments],
            env={**os.environ, **home.environment, **environment},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        process.wait(timeout=30)
        os.close(terminal)
        return screen.read(4096).decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("tool", "new", "foo", "--directory", "/proc/foo"),
        ("export", "--from-meta", "{meta}", "--format", "unstract", "--output", "/proc/foo"),
    ],
)
def test_unwritable_folder_is_not_a_defect(home, meta_file, definition, arguments):
    arguments = [one.format(meta=meta_file(definition)) for one in arguments]
    result = home.run(*arguments, "--json")
    assert (result.code, result.error["code"]) == (2, "file_inaccessible")
    assert "/proc/foo" in result.error["message"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_the_program(home, shell):
    script = home.run("completion", shell).stdout
    assert "_NEXUS_TOOLS_COMPLETE" in script


def test_ctrl_c_while_the_program_is_imported_shows_no_traceback(home):
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from nexus_tools.cli import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


# --- Disks that are full, streams that are closed


def in_a_shell(home, line):
    """Run a line of a shell, in which `$nexus` is the program.

    It keeps no bytecode: what Python wrote of that to a full disk would be read by others.
    """
    variables = {
        "nexus": f"{sys.executable} -m nexus_tools",
        "PATH": os.environ["PATH"],
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        ["bash", "-c", line],
        env=home.environment | variables,
        cwd=home.folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", ["network list", "network list --json", "--help"])
def test_full_disk_behind_stdout_is_not_a_defect(home, command):
    done = in_a_shell(home, f"$nexus {command} > /dev/full")
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "should not happen" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_full_disk_behind_a_file_is_not_a_defect(home):
    done = in_a_shell(home, "ulimit -f 0; trap '' XFSZ; $nexus network use testnet --json | cat")
    assert '"code": "disk_full"' in done.stderr


def test_full_disk_does_not_truncate_startup_file(home):
    home.json("completion", "install", "bash")
    text = "# mine\n" * 1_024  # 7 KiB, which is all that may be written
    (home.folder / ".bashrc").write_text(text)
    done = in_a_shell(home, "ulimit -f 7; trap '' XFSZ; $nexus completion install bash")
    assert done.returncode == 2
    assert (home.folder / ".bashrc").read_text().startswith(text)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_stream_is_not_a_defect(home, closed):
    assert in_a_shell(home, f"$nexus network list {closed}").returncode == 0
    done = in_a_shell(home, f"$nexus network use nowhere {closed}")
    assert (done.returncode, "should not happen" in done.stderr) == (3, False)
