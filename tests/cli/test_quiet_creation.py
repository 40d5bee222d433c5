"""Commands with `--quiet` that create something: they print only its ID."""

import pytest


def quiet(user, *arguments, **options):
    """Run a command with `-q`, which must succeed. Return its output on stdout."""
    result = user.run(*arguments, "-q", **options)
    assert result.code == 0, result.stderr
    return result.stdout


def test_wallet_commands_print_the_address(home, tmp_path):
    address = quiet(home, "wallet", "new", "one")
    assert address == f"{home.wallet.account('one').address}\n"
    secret = home.run("wallet", "export", "one", "--yes").stdout
    other = {"NEXUS_TOOLS_KEYSTORE": str(tmp_path / "other.keystore")}
    assert quiet(home, "wallet", "import", stdin=secret, **other) == address


@pytest.mark.parametrize("owner", ["tool", "leader"])
def test_key_command_prints_the_public_key(home, tmp_path, owner):
    file = tmp_path / "key"
    public_key = quiet(home, owner, "key", "new", file)
    assert public_key.strip() == home.json(owner, "key", "show", file)["public_key"]


def test_tool_registration_prints_the_tool_even_if_it_exists(author, definition, meta_file):
    arguments = ("tool", "register", "--from-meta", meta_file(definition), "--yes")
    first, second = quiet(author, *arguments), quiet(author, *arguments)
    assert first == second
    assert first.strip() == author.json("tool", "show", definition["fqn"])["tool"]


def test_leader_registration_prints_the_leader_even_if_it_exists(author):
    first = quiet(author, "leader", "register", "--yes")
    assert first == quiet(author, "leader", "register", "--yes")
    assert [first.strip()] == [row["leader"] for row in author.json("leader", "status")]


@pytest.mark.long
def test_package_publication_prints_the_package(author):
    package = quiet(author, "package", "publish", "--republish", "--yes")
    assert package.strip() == author.json("package", "show")["package_id"]
