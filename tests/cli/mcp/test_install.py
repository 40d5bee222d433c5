"""`mcp install` and `mcp uninstall`, on files of clients in the user's home and in a project."""

import json
import os
import stat
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from mcp import Client, StdioServerParameters

from nexus_tools.cli.mcp import client_file, clients, install, stored_command
from nexus_tools.cli.mcp.client_file import ClientFile
from nexus_tools.cli.mcp.clients import CLIENTS
from nexus_tools.errors import WrongStateError

NAME = "nexus-tools"
SERVE = [*("-P", "-m", "nexus_tools"), "mcp", "serve"]
# Paths and members from the documentation of each client.
LINUX = {
    "claude": ("config/Claude/claude_desktop_config.json", "mcpServers"),
    "claude-code": (".claude.json", "mcpServers"),
    "vscode": ("config/Code/User/mcp.json", "servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
    "zed": ("config/zed/settings.json", "context_servers"),
}
MACOS = {
    "claude": "Library/Application Support/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "vscode": "Library/Application Support/Code/User/mcp.json",
    "cursor": ".cursor/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
}
WINDOWS = {
    "claude": "AppData/Roaming/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "vscode": "AppData/Roaming/Code/User/mcp.json",
    "cursor": ".cursor/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": "AppData/Roaming/Zed/settings.json",
}
PROJECT = {
    "claude-code": (".mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "zed": (".zed/settings.json", "context_servers"),
}
OTHER = {"mcpServers": {"other": {"command": "x", "env": {"API_KEY": "do-not-show-this"}}}}


def read(path):
    return json.loads(path.read_text())


@pytest.fixture
def cursor_file(home):
    """The file of Cursor in the home directory. The file does not exist yet."""
    file = home.folder / ".cursor/mcp.json"
    file.parent.mkdir()
    return file


@pytest.fixture
def project(tmp_path_factory, monkeypatch):
    """A project, which is the working directory."""
    folder = tmp_path_factory.mktemp("project")
    monkeypatch.chdir(folder)
    return folder


# --- The files of the clients


@pytest.mark.parametrize("client", LINUX)
def test_install_writes_the_file_of_the_client(home, client):
    path, key = LINUX[client]
    done = home.json("mcp", "install", client, "--domain", "xyz.example")
    entry = read(home.folder / path)[key][NAME]
    assert entry["command"] == sys.executable
    assert entry["args"] == [*SERVE, "--domain", "xyz.example"]
    assert entry.get("type") == ("stdio" if client in ("claude-code", "vscode", "cursor") else None)
    assert done["file"] == str(home.folder / path)
    assert (done["entry"], done["changed"], done["backup"]) == (entry, True, None)


@pytest.mark.parametrize("client", PROJECT)
def test_install_writes_the_file_of_a_project(home, project, client):
    path, key = PROJECT[client]
    home.json("mcp", "install", client, "--scope", "project")
    assert read(project / path)[key][NAME]["args"] == SERVE
    home.json("mcp", "uninstall", client, "--scope", "project")
    assert not (project / path).exists()


@pytest.mark.parametrize(("system", "files"), [("darwin", MACOS), ("win32", WINDOWS)])
@pytest.mark.parametrize("client", LINUX)
def test_other_systems_have_other_files(home, monkeypatch, client, system, files):
    monkeypatch.setattr(clients, "sys", SimpleNamespace(platform=system))
    done = home.json("mcp", "install", client, "--dry-run")
    assert done["file"] == str(home.folder / files[client])


def test_claude_code_has_its_own_configuration_directory(home, tmp_path):
    folder = tmp_path / "other"
    done = home.json("mcp", "install", "claude-code", CLAUDE_CONFIG_DIR=str(folder))
    assert done["file"] == str(folder / ".claude.json")


@pytest.mark.parametrize("client", sorted(LINUX.keys() - PROJECT.keys()))
def test_project_scope_is_refused_if_the_client_has_none(home, project, client):
    refused = home.fails("mcp", "install", client, "--scope", "project")
    assert refused == (2, "scope_not_supported")
    assert [*project.iterdir()] == []


# --- The stored command


async def test_stored_command_serves_the_registry(user):
    path = user.folder / LINUX["cursor"][0]
    user.json("mcp", "install", "cursor", "--allow-loopback", "--only", "*divide*")
    entry = read(path)["mcpServers"][NAME]
    server = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={"PATH": os.environ["PATH"]} | user.environment,
        cwd="/",
    )
    async with Client(server) as client:
        [tool] = (await client.list_tools()).tools
    assert tool.title == "xyz.example.math.divide@1"


def test_options_of_serve_are_stored_as_typed(home):
    typed = ["--search=-x", "--no-check-domain", "--on-chain", "--budget", "0.5", "-w", "agent"]
    entry = home.json("--network", "localnet", "mcp", "install", "cursor", *typed)["entry"]
    assert sorted(entry["args"][5:]) == sorted(
        [
            *("--search=-x", "--no-check-domain", "--on-chain", "--budget", "0.5"),
            *("--wallet", "agent", "--network", "localnet"),
        ]
    )


def test_repeated_options_are_stored_in_their_order(home):
    typed = ["--only", "b*", "--only", "a*"]
    assert home.json("mcp", "install", "zed", *typed)["entry"]["args"][5:] == typed


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--on-chain"], "budget_missing"),
        (["--budget", "1"], "option_not_applicable"),
        (["--budget", "much"], "usage"),
        (["--unknown"], "usage"),
        (["--http", "8080"], "usage"),
        (["--allow-unauthenticated"], "usage"),
    ],
)
def test_options_that_serve_refuses_are_not_stored(home, options, code):
    assert home.fails("mcp", "install", "cursor", *options) == (2, code)
    assert not (home.folder / ".cursor").exists()


def test_program_of_the_virtual_environment_is_stored_with_its_path(home, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "nexus-tools"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr(stored_command, "sys", SimpleNamespace(argv=[str(program)], prefix="/"))
    entry = home.json("mcp", "install", "cursor")["entry"]
    assert (entry["command"], entry["args"]) == (str(program), ["mcp", "serve"])


def test_uvx_is_stored_if_the_environment_is_in_the_cache_of_uv(home, tmp_path, monkeypatch):
    prefix = tmp_path / "uv" / "archive-v0" / "x"
    prefix.mkdir(parents=True)
    (tmp_path / "uv" / "CACHEDIR.TAG").touch()
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.9.0\n")
    program = str(prefix / "bin" / "nexus-tools")
    monkeypatch.setattr(stored_command, "sys", SimpleNamespace(argv=[program], prefix=str(prefix)))
    environment = {"PATH": "/nowhere", "UV": "/opt/uv/bin/uv"}
    entry = home.json("mcp", "install", "cursor", **environment)["entry"]
    assert entry["command"] == "/opt/uv/bin/uvx"
    assert entry["args"] == ["--from", "nexus-tools[mcp]", "nexus-tools", "mcp", "serve"]
    monkeypatch.undo()
    assert home.json("mcp", "uninstall", "cursor")["changed"]


def test_missing_extra_is_reported_before_the_client_starts_the_server(home, monkeypatch):
    monkeypatch.setattr(install, "find_spec", lambda _: None)
    refused = home.run("mcp", "install", "cursor", "--json")
    assert refused.error["code"] == "extra_not_installed"
    assert "nexus-tools[mcp]" in refused.error["hint"]


# --- Secrets


@pytest.mark.parametrize(
    "options",
    [
        ["--env", "NEXUS_TOOLS_PASSPHRASE=open sesame"],
        ["--env", "NEXUS_TOOLS_SECRET=open sesame"],
        ["--env", "NEXUS_TOOLS_SIGNER_TOKEN=open sesame"],
        ["--env", "OPENAI_API_KEY=open sesame"],
        ["--env", "github_token=open sesame"],
        ["--env", "WALLET=suiprivkey1open sesame"],
        ["--env", "PROXY=http://user:open sesame@proxy".replace(" ", "")],
        ["--index-url", "https://user:open@index.example.com"],
        ["--signer", "https://user:open@signer.example.com"],
        ["--wallet", "suiprivkey1open"],
    ],
)
def test_secrets_are_refused_and_not_repeated(home, options):
    refused = home.run("mcp", "install", "cursor", *options, "--json")
    assert (refused.code, refused.error["code"]) == (2, "secret_refused")
    assert "NEXUS_TOOLS_PASSPHRASE_FILE" in refused.error["hint"]
    assert "open" not in refused.stdout + refused.stderr
    assert not (home.folder / ".cursor").exists()


def test_paths_of_secret_files_are_stored(home):
    variables = {
        "NEXUS_TOOLS_PASSPHRASE_FILE": "/secrets/passphrase",
        "NEXUS_TOOLS_KEYSTORE": "/keys/sui.keystore",
    }
    options = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
    assert home.json("mcp", "install", "cursor", *options)["entry"]["env"] == variables


@pytest.mark.parametrize("text", ["NAME", "=x", "A B=x"])
def test_malformed_variables_are_refused(home, text):
    assert home.fails("mcp", "install", "cursor", "--env", text) == (2, "variable_invalid")


def test_variables_of_the_shell_that_are_not_stored_are_reported(home):
    shell = {"NEXUS_TOOLS_WALLET": "agent", "NEXUS_TOOLS_NETWORK": "localnet"}
    stored = ("--env", "NEXUS_TOOLS_NETWORK=localnet")
    done = home.run("mcp", "install", "cursor", *stored, **shell)
    assert "NEXUS_TOOLS_WALLET" in done.stderr
    assert "NEXUS_TOOLS_NETWORK" not in done.stderr
    done = home.run("mcp", "install", "cursor", "--wallet", "agent", *stored, **shell)
    assert "NEXUS_TOOLS" not in done.stderr


@pytest.mark.parametrize("options", [["--wallet", "agent"], ["--network", "agent"]])
def test_install_warns_of_unknown_names(home, options):
    done = home.run("mcp", "install", "cursor", *options)
    assert (done.code, "agent" in done.stderr) == (0, True)
    assert "calls fail until you correct this" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("options", "is_named"),
    [
        (["--network", "localnet"], True),
        (["--network", "localnet", "--allow-loopback"], False),
        (["--network", "testnet"], False),
        (["--network", "localnet", "--on-chain", "--yes"], False),
    ],
)
def test_install_names_the_option_for_tools_on_this_machine(home, options, is_named):
    done = home.run("mcp", "install", "cursor", *options)
    assert ("pass --allow-loopback" in " ".join(done.stderr.split())) == is_named


# --- Changes of the file


def test_comments_and_other_servers_are_kept(home):
    file = home.folder / LINUX["zed"][0]
    file.parent.mkdir(parents=True)
    servers = '{\n    "a": {}, // keep\n  }'
    text = f'// mine\n{{\n  "theme": "x", // dark\n  "context_servers": {servers},\n}}\n'
    file.write_text(text)
    home.json("mcp", "install", "zed")
    changed = file.read_text()
    assert [line for line in text.splitlines() if line not in changed.splitlines()] == []
    home.json("mcp", "uninstall", "zed")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("client", "text", "place"),
    [
        ("cursor", '{\n  "mcpServers": {\n  }', "line 3, column 4"),
        ("cursor", '{"mcpServers": {}} // mine', "line 1, column 20"),
        ("zed", '{\n  // mine\n  "a" 1}', "line 3, column 7"),
        ("claude", "[]", "line 1, column 1"),
        ("claude", '{"mcpServers": []}', "line 1, column 16"),
        ("claude", '{"mcpServers": {},\n"mcpServers": {}}', "line 2, column 1"),
    ],
)
def test_invalid_file_is_refused_and_not_changed(home, client, text, place):
    file = home.folder / LINUX[client][0]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    refused = home.run("mcp", "install", client, "--force", "--json")
    assert (refused.code, refused.error["code"]) == (2, "client_file_invalid")
    assert f"{file}, {place}: " in refused.error["message"]
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  // mine\n  "mcpServers": {}\n}', "line 2, column 3: JSON does not allow a comment"),
        ('{\n  "mcpServers": {},\n}', "line 2, column 19: JSON does not allow a trailing comma"),
    ],
)
def test_comments_in_strict_json_are_named(home, cursor_file, text, place):
    cursor_file.write_text(text)
    error = home.run("mcp", "install", "cursor", "--json").error
    assert place in error["message"]
    assert "Only the files of VS Code and Zed may contain them." in error["hint"]


def test_text_that_is_not_utf8_is_refused(home, cursor_file):
    cursor_file.write_bytes(b'{\n "a": "\xff"}')
    refused = home.run("mcp", "install", "cursor", "--json")
    assert "line 2, column 8" in refused.error["message"]


def test_byte_order_mark_is_kept(home, cursor_file):
    cursor_file.write_bytes(b'\xef\xbb\xbf{"mcpServers": {}}')
    home.json("mcp", "install", "cursor")
    assert cursor_file.read_bytes().startswith(b'\xef\xbb\xbf{"mcpServers": {')


def test_second_installation_changes_nothing(home, cursor_file):
    home.json("mcp", "install", "cursor", "--domain", "xyz.example")
    before = cursor_file.stat()
    again = home.json("mcp", "install", "cursor", "--domain", "xyz.example")
    assert (again["changed"], again["diff"]) == (False, "")
    assert cursor_file.stat().st_ino == before.st_ino


def test_installation_with_other_options_replaces_the_entry(home, cursor_file):
    home.json("mcp", "install", "cursor", "--domain", "xyz.example")
    home.json("mcp", "install", "cursor", "--mode", "search")
    assert read(cursor_file)["mcpServers"][NAME]["args"] == [*SERVE, "--mode", "search"]


def test_backup_has_the_content_before_the_first_change(home, cursor_file):
    text = json.dumps(OTHER)
    cursor_file.write_text(text)
    done = home.json("mcp", "install", "cursor")
    again = home.json("mcp", "uninstall", "cursor")
    backup = cursor_file.with_name("mcp.json.nexus-tools-backup")
    assert (done["backup"], again["backup"]) == (str(backup), None)
    assert backup.read_text() == text


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_permissions_are_kept(home, cursor_file, mode):
    cursor_file.write_text("{}")
    cursor_file.chmod(mode)
    home.json("mcp", "install", "cursor")
    backup = cursor_file.with_name("mcp.json.nexus-tools-backup")
    assert stat.S_IMODE(cursor_file.stat().st_mode) == mode
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_symlink_in_the_home_directory_is_followed(home, cursor_file, tmp_path):
    target = tmp_path / "dotfiles" / "cursor.json"
    target.parent.mkdir()
    target.write_text("{}")
    cursor_file.symlink_to(target)
    home.json("mcp", "install", "cursor")
    assert cursor_file.is_symlink()
    assert NAME in read(target)["mcpServers"]


def test_change_of_another_program_is_not_overwritten(cursor_file):
    client = CLIENTS["cursor"]
    file = ClientFile.read(cursor_file, client)
    cursor_file.write_text('{"theirs": 1}')
    with pytest.raises(WrongStateError, match="has just changed"):
        file.replace(file.document.with_value((client.key, NAME), {}))
    assert cursor_file.read_text() == '{"theirs": 1}'


def test_simultaneous_installations_lose_no_entry(cursor_file, monkeypatch):
    """A command that says that it added a server must not lose it to another command."""
    client, both = CLIENTS["cursor"], threading.Barrier(2)
    cursor_file.write_text("{}")
    write = client_file.replace_file

    def write_together(*args, **options):
        with suppress(threading.BrokenBarrierError):
            both.wait(0.2)  # only two unlocked commands get here at the same time
        write(*args, **options)

    def install_as(name):
        try:
            file = files[name]
            file.replace(file.document.with_value((client.key, name), {}))
        except WrongStateError as error:
            return error.code
        return "added"

    monkeypatch.setattr(client_file, "replace_file", write_together)
    files = {name: ClientFile.read(cursor_file, client) for name in ("one", "other")}
    with ThreadPoolExecutor() as threads:
        results = dict(zip(files, threads.map(install_as, files), strict=True))
    assert sorted(results.values()) == ["added", "client_file_changed"]
    added = [name for name, result in results.items() if result == "added"]
    assert list(read(cursor_file)["mcpServers"]) == added


# --- Dry run, uninstall


def test_dry_run_shows_the_entry_and_writes_nothing(home, cursor_file):
    cursor_file.write_text(json.dumps(OTHER, indent=2))
    shown = home.run("mcp", "install", "cursor", "--dry-run", "--domain", "xyz.example")
    assert f"+++ {cursor_file}\n" in shown.stdout
    assert '"xyz.example"\n' in shown.stdout
    assert (read(cursor_file), len([*cursor_file.parent.iterdir()])) == (OTHER, 1)


def test_dry_run_shows_a_diff_of_the_file_without_values(home, cursor_file):
    """The line numbers are the line numbers of the file, and other values are hidden."""
    text = '{\n  "a": 1,\n  "mcpServers": {\n    "b": {\n      "url": "hidden"\n    }\n  }\n}\n'
    cursor_file.write_text(text)
    diff = home.json("mcp", "install", "cursor", "--dry-run")["diff"].splitlines()
    assert diff[:6] == [
        *(f"--- {cursor_file}", f"+++ {cursor_file}", "@@ -5,2 +5,13 @@"),
        *('       "url": "…"', "+    },", f'+    "{NAME}": {{'),
    ]
    assert diff[-1] == "     }"
    home.json("mcp", "install", "cursor")
    removed = home.json("mcp", "uninstall", "cursor", "--dry-run")["diff"].splitlines()
    assert removed[2] == "@@ -5,13 +5,2 @@"
    assert [line[1:] for line in removed[3:]] == [line[1:] for line in diff[3:]]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_diff_hides_values_on_changed_lines(home, cursor_file, command, indent):
    home.json("mcp", "install", "cursor", "--env", "REGION=do-not-show-this")
    document = OTHER["mcpServers"] | read(cursor_file)["mcpServers"] | {"last": ["do-not-show"]}
    cursor_file.write_text(json.dumps({"mcpServers": document}, indent=indent))
    shown = home.run("mcp", command, "cursor", "--dry-run")
    assert "do-not-show" not in shown.stdout + shown.stderr
    assert '"…"' in shown.stdout


def test_uninstall_restores_the_file(home, cursor_file):
    text = '{\n    "mcpServers": {\n        "a": {}\n    }\n}'
    cursor_file.write_text(text)
    home.json("mcp", "install", "cursor", "--name", "market")
    assert home.fails("mcp", "uninstall", "cursor") == (3, "server_not_installed")
    home.json("mcp", "uninstall", "cursor", "--name", "market", "--dry-run")
    assert "market" in cursor_file.read_text()
    home.json("mcp", "uninstall", "cursor", "--name", "market")
    assert cursor_file.read_text() == text


def test_uninstall_deletes_a_file_that_only_an_installation_has_written(home, cursor_file):
    home.json("mcp", "install", "cursor")
    shown = home.json("mcp", "uninstall", "cursor", "--dry-run")
    assert cursor_file.exists()
    home.json("mcp", "uninstall", "cursor")
    assert not cursor_file.exists()
    assert {line[0] for line in shown["diff"].splitlines()[3:]} == {"-"}


@pytest.mark.parametrize("text", ["", '{\n  "theme": "x"\n}\n'])
def test_uninstall_removes_the_member_that_an_installation_added(home, cursor_file, text):
    cursor_file.write_text(text)
    home.json("mcp", "install", "cursor")
    home.json("mcp", "uninstall", "cursor")
    assert read(cursor_file) == json.loads(text or "{}")


def test_uninstall_keeps_other_members_of_a_file(home, cursor_file):
    home.json("mcp", "install", "cursor")
    cursor_file.write_text(json.dumps(read(cursor_file) | {"theme": "x"}))
    home.json("mcp", "uninstall", "cursor")
    assert read(cursor_file) == {"theme": "x"}


def test_uninstall_of_another_server_names_its_options(home, cursor_file):
    cursor_file.write_text(json.dumps(OTHER))
    error = home.run("mcp", "uninstall", "cursor", "--name", "other", "--json").error
    assert error["hint"] == "Pass another --name, or --force to remove that server."
    home.json("mcp", "uninstall", "cursor", "--name", "other", "--force")
    assert read(cursor_file) == {"mcpServers": {}}


# --- Misuse by others


@pytest.mark.parametrize("link", [".mcp.json", ".vscode", ".vscode/mcp.json"])
def test_project_cannot_redirect_the_change_to_another_file(home, project, link):
    victim = home.folder / "victim"
    victim.mkdir()
    (victim / "mcp.json").write_text("{}")
    is_folder = link == ".vscode"
    place = project / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(victim if is_folder else victim / "mcp.json")
    client = "vscode" if "vscode" in link else "claude-code"
    refused = home.fails("mcp", "install", client, "--scope", "project", "--force")
    assert refused == (2, "file_outside_project")
    assert [path.read_text() for path in victim.iterdir()] == ["{}"]


def test_project_cannot_redirect_the_backup_to_another_file(home, project):
    victim = home.folder / "victim"
    victim.write_text("mine")
    (project / ".mcp.json").write_text("{}")
    (project / ".mcp.json.nexus-tools-backup").symlink_to(victim)
    home.json("mcp", "install", "claude-code", "--scope", "project")
    assert victim.read_text() == "mine"


def test_project_cannot_block_the_command_with_a_pipe(home, project):
    os.mkfifo(project / ".mcp.json")
    refused = home.fails("mcp", "install", "claude-code", "--scope", "project")
    assert refused == (2, "file_inaccessible")


def test_loop_of_symlinks_is_refused(home, project):
    (project / ".mcp.json").symlink_to(project / ".mcp.json")
    refused = home.fails("mcp", "install", "claude-code", "--scope", "project")
    assert refused == (2, "file_inaccessible")


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "evil"},
        {"command": "sh", "args": ["-c", "evil; nexus-tools mcp serve"]},
        {"command": "evil", "args": ["mcp", "serve"]},
        {"command": "evil", "args": ["nexus-tools", "mcp", "serve"]},
        {"command": "evil", "args": ["mcp", "serve", "-m", "nexus-tools", "mcp", "serve"]},
        {"command": "nexus-tools", "args": ["leader", "run"]},
        {"url": "https://evil.example.com/nexus-tools"},
        "nexus-tools mcp serve",
    ],
)
def test_entry_of_another_server_is_kept_without_force(home, cursor_file, entry):
    cursor_file.write_text(json.dumps({"mcpServers": {NAME: entry}}))
    for command in ("install", "uninstall"):
        assert home.fails("mcp", command, "cursor") == (4, "server_name_taken")
    assert read(cursor_file)["mcpServers"][NAME] == entry
    home.json("mcp", "install", "cursor", "--force")
    assert read(cursor_file)["mcpServers"][NAME]["args"] == SERVE


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_secrets_of_other_entries_are_not_shown(home, cursor_file, command):
    document = {"mcpServers": OTHER["mcpServers"] | {NAME: OTHER["mcpServers"]["other"]}}
    cursor_file.write_text(json.dumps(document, indent=2))
    shown = home.run("mcp", command, "cursor", "--force", "--dry-run")
    assert '-      "command": "x"' in shown.stdout
    assert "do-not-show-this" not in shown.stdout + shown.stderr


def test_control_characters_of_an_entry_do_not_reach_the_terminal(home, cursor_file):
    document = {"mcpServers": {NAME: {"command": "\x1b[2J\u202e"}}}
    cursor_file.write_text(json.dumps(document, ensure_ascii=False).replace("\x1b", "\\u001b"))
    shown = home.run("mcp", "install", "cursor", "--force", "--dry-run")
    assert shown.code == 0
    assert not {"\x1b", "\u202e"} & {*shown.stdout}


@pytest.mark.parametrize("name", ["", 'a": {}, "evil', "a b", "a\x1b", "x" * 65])
def test_names_that_clients_refuse_are_refused(home, cursor_file, name):
    assert home.fails("mcp", "install", "cursor", "--name", name) == (2, "usage")
    assert not cursor_file.exists()


def test_folder_of_the_file_is_created(home):
    home.json("mcp", "install", "windsurf")
    assert Path(home.folder / ".codeium/windsurf/mcp_config.json").is_file()
