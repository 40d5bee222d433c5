import stat
from pathlib import Path

import httpx
import pytest

from nexus_tools.sui.types.address import Address
from nexus_tools.tool import SigningKey, format_public_key

TOOLS = f"{Path(__file__).parents[3] / 'examples' / 'tools.py'}:divide"
LEADER = str(Address.of(0x1EAD))


@pytest.fixture
def leaders(tmp_path):
    file = tmp_path / "leaders.keys"
    file.write_text(f"# who may call\n{LEADER} {format_public_key(SigningKey.new().public_key)}\n")
    return file


@pytest.mark.parametrize("group", ["tool", "leader"])
def test_new_key_file_is_private_and_the_secret_is_not_printed(home, tmp_path, group):
    file = tmp_path / "key.pem"
    made = home.run(group, "key", "new", file)
    assert made.code == 0
    key = SigningKey.load(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert format_public_key(key.public_key) in made.stdout
    assert key.private.private_bytes_raw().hex() not in made.stdout + made.stderr
    assert file.read_text().splitlines()[1] not in made.stdout + made.stderr
    assert home.fails(group, "key", "new", file) == (2, "signing_key_exists")
    assert SigningKey.load(file).public_key == key.public_key


def test_printed_line_of_a_leader_key_is_read_by_the_server(home, tmp_path):
    file = tmp_path / "key.pem"
    home.run("leader", "key", "new", file)
    shown = home.json("leader", "key", "show", file, "--signer", LEADER)
    assert shown["line"] == f"{LEADER} {shown['public_key']}"


@pytest.mark.parametrize(
    ("group", "owner", "code"),
    [("leader", "0xlee", "address_invalid"), ("tool", "divide", "fqn_invalid")],
)
def test_signer_option_requires_a_leader_or_an_fqn(home, tmp_path, group, owner, code):
    file = tmp_path / "key.pem"
    home.run(group, "key", "new", file)
    assert home.fails(group, "key", "show", file, "--signer", owner) == (7, code)


def test_leaders_option_requires_signed_calls(home, leaders, tmp_path):
    home.run("tool", "key", "new", tmp_path / "tool.pem")
    server = home.daemon(
        *("divide@1", "tool", "serve", TOOLS, "--bind", "127.0.0.1:0"),
        *("--leaders", leaders, "--signing-key", tmp_path / "tool.pem"),
        *("--state", tmp_path / "state.sqlite"),
    )
    url = server.line.strip().split(" at ")[1].rstrip("/")
    response = httpx.post(f"{url}/invoke", json={"dividend": 1, "divisor": 2})
    assert (response.status_code, response.json()["code"]) == (401, "signature_missing")
    assert httpx.get(f"{url}/health").status_code == 200


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--signatures", "required"), (2, "leaders_missing")),
        (("--signatures", "optional"), (2, "leaders_missing")),
        (("--leaders", "BROKEN"), (7, "known_keys_invalid")),
        (("--leaders", "LEADERS", "--signing-key", "LEADERS"), (8, "signing_key_exposed")),
        (("--leaders", "LEADERS", "--bind", "0.0.0.0:0"), (2, "public_url_missing")),
        (("--leaders", "LEADERS", "--state", "/nowhere/x"), (2, "state_unusable")),
        (("--leaders", "LEADERS", "--signatures", "off"), (2, "signatures_off")),
        (("--signing-key", "LEADERS", "--signatures", "off"), (2, "signatures_off")),
        (("--leaders", "LEADERS", "--network", "localnet"), (2, "leaders_conflict")),
        (("--forgive-leader", LEADER), (2, "leaders_missing")),
        (("--leaders", "LEADERS", "--forgive-leader", "lee"), (2, "id_expected")),
    ],
)
def test_serve_rejects_incomplete_signature_options(home, leaders, tmp_path, options, error):
    broken = tmp_path / "broken.keys"
    broken.write_text("0x1 ed25519:short\n")
    leaders.chmod(0o644)
    files = {"BROKEN": broken, "LEADERS": leaders}
    given = [str(files.get(option, option)) for option in options]
    result = home.spawn("tool", "serve", TOOLS, "--bind", "127.0.0.1:0", *given, "--json")
    assert (result.code, result.error["code"]) == error


@pytest.mark.parametrize(
    "option", [("--signing-key", "LEADERS"), ("--state", "LEADERS"), ("--signatures", "required")]
)
def test_missing_leaders_error_names_the_given_option(home, leaders, option):
    given = [str({"LEADERS": leaders}.get(word, word)) for word in option]
    result = home.run("tool", "serve", TOOLS, "--bind", "127.0.0.1:0", *given, "--json")
    assert result.error["code"] == "leaders_missing"
    named = option[0] if option[0] != "--signatures" else " ".join(option)
    assert result.error["message"] == f"{named} needs a list of accepted leaders"
    assert "--network NAME" in result.error["hint"]


def test_empty_leaders_file_is_reported(home, tmp_path):
    empty = tmp_path / "leaders.keys"
    empty.write_text("# nobody yet\n")
    options = ("--bind", "127.0.0.1:0", "--leaders", empty)
    server = home.daemon("does not list any leaders", "tool", "serve", TOOLS, *options)
    assert "does not list any leaders: all signed calls are rejected" in server.line
