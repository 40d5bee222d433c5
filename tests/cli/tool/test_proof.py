"""What the command line says of a tool's domain, asked over https."""

import json

import pytest

from nexus_tools.registry import domain_proof

STRANGER = "0x" + "66" * 32
PATH = "/.well-known/nexus-tools.json"


@pytest.fixture
def internet(internet, monkeypatch):
    """The hosts that commands ask."""
    monkeypatch.setattr(domain_proof, "open_domain_prover", internet.asking)
    return internet


@pytest.fixture
def fqn(author, definition, meta_file, carrier):
    """A tool below `example.xyz` that the author registered, with a price."""
    name = definition["fqn"].removeprefix("xyz.test.")
    path = meta_file(definition | {"fqn": f"xyz.example.{name}"})
    terms = ("--price", "0.001", "--leader", carrier)
    author.json("tool", "register", "--from-meta", path, *terms, "--yes")
    return f"xyz.example.{name}"


def publish(internet, user, *owners):
    """What `tool proof` wrote for somebody, with others in place of them, if any are given."""
    document = json.loads(user.run("tool", "proof", "xyz.example").stdout)
    if owners:
        document["registries"][0]["owners"] = list(owners)
    internet.publish("example.xyz", document)


def test_what_is_written_proves_the_name_once_it_is_published(author, fqn, internet):
    written = author.run("tool", "proof", fqn)
    assert f"https://example.xyz{PATH}" in written.stderr
    assert author.fails("tool", "proof", fqn, "--check") == (7, "domain_not_proved")
    internet.publish("example.xyz", written.stdout.encode())
    proof = author.json("tool", "proof", fqn, "--check")
    owner = author.json("wallet", "show")["address"]
    assert proof == {
        "state": "proved",
        "reason": "example.xyz lists the owner",
        "host": "example.xyz",
        "owners": [owner],
    }
    assert author.json("tool", "proof", "xyz.example", "--check") == proof


def test_a_squatter_does_not_get_into_the_document_of_the_domains_owner(author, stranger, fqn):
    written = stranger.run("tool", "proof", fqn)
    [entry] = json.loads(written.stdout)["registries"]
    assert entry["owners"] == [stranger.json("wallet", "show")["address"]]
    assert ", but this document lists you" in written.stderr


def test_a_tool_is_shown_with_what_its_domain_says(author, fqn, internet):
    publish(internet, author)
    assert author.json("tool", "show", fqn, "--check-domain")["proof"]["state"] == "proved"
    shown = author.run("tool", "show", fqn, "--check-domain")
    assert "proved: example.xyz lists the owner" in shown.stdout
    assert internet.asked == ["example.xyz"]  # the second time its word was kept


@pytest.mark.parametrize("arguments", [("--no-check-domain",), ()])
def test_nobody_hears_of_a_reader_who_wants_that_or_works_on_their_own_network(
    author, fqn, internet, arguments
):
    publish(internet, author)
    assert author.json("tool", "show", fqn, *arguments)["proof"] is None
    assert internet.asked == []


def test_the_environment_says_whether_domains_are_asked(author, fqn, internet):
    publish(internet, author)
    asked = author.json("tool", "show", fqn, NEXUS_TOOLS_CHECK_DOMAIN="on")
    assert asked["proof"]["state"] == "proved"
    kept_silent = author.json("tool", "show", fqn, NEXUS_TOOLS_CHECK_DOMAIN="off")
    assert kept_silent["proof"] is None


def test_a_list_asks_no_domain(author, fqn, internet):
    publish(internet, author)
    author.json("tool", "list", NEXUS_TOOLS_CHECK_DOMAIN="on")
    assert internet.asked == []


INVOKE = ("--input", '{"a": 1, "b": 2}', "--dry-run", "--yes", "--check-domain")


def test_a_squatter_is_not_paid_without_a_warning(author, fqn, internet):
    publish(internet, author, STRANGER)
    result = author.run("tool", "invoke", fqn, *INVOKE)
    assert result.code == 0, result.stderr
    assert "is not confirmed by its domain: example.xyz does not list the owner" in result.stderr


def test_a_domain_that_says_nothing_warns_nobody(author, fqn, internet):
    result = author.run("tool", "invoke", fqn, *INVOKE)
    assert result.code == 0, result.stderr
    assert "domain" not in result.stderr


def test_a_tool_without_a_price_asks_no_domain(author, fqn, internet):
    publish(internet, author, STRANGER)
    author.json("tool", "update", fqn, "--price", "0", "--yes")
    assert author.run("tool", "invoke", fqn, *INVOKE).code == 0
    assert internet.asked == []


def test_a_name_that_nobody_can_prove_is_warned_of_before_it_is_taken(
    author, definition, meta_file
):
    path = meta_file(definition | {"fqn": "xyz.my_company.math.add@1"})
    result = author.run("tool", "register", "--from-meta", path, "--dry-run", "--yes")
    assert result.code == 0, result.stderr
    assert "'my_company' has an underscore. The ownership of names in it cannot be" in result.stderr
    assert author.fails("tool", "proof", "xyz.my_company") == (7, "domain_unprovable")


def test_on_a_network_of_others_registering_says_what_to_publish_where(
    author, definition, meta_file, monkeypatch
):
    monkeypatch.setattr("nexus_tools.cli.tool.register.should_check_domains", lambda _: True)
    result = author.run("tool", "register", "--from-meta", meta_file(definition), "--yes")
    assert result.code == 0, result.stderr
    assert f"https://test.xyz{PATH}" in result.stderr
    assert "`nexus-tools tool proof xyz.test`" in result.stderr
