"""Output about the domain of a tool, which is queried over HTTPS."""

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
def fqn(author, definition, meta_file, operator_leader):
    """A tool below `example.xyz` that the author registered, with a price."""
    name = definition["fqn"].removeprefix("xyz.test.")
    path = meta_file(definition | {"fqn": f"xyz.example.{name}"})
    terms = ("--price", "0.001", "--leader", operator_leader)
    author.json("tool", "register", "--from-meta", path, *terms, "--yes")
    return f"xyz.example.{name}"


def publish(internet, user, *owners):
    """Publish the document of `tool proof`, with other owners if any are given."""
    document = json.loads(user.run("tool", "proof", "xyz.example").stdout)
    if owners:
        document["registries"][0]["owners"] = list(owners)
    internet.publish("example.xyz", document)


def test_published_proof_document_proves_the_name(author, fqn, internet):
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


def test_proof_document_of_another_account_has_only_its_own_entry(author, stranger, fqn):
    written = stranger.run("tool", "proof", fqn)
    [entry] = json.loads(written.stdout)["registries"]
    assert entry["owners"] == [stranger.json("wallet", "show")["address"]]
    assert ", but this document lists you" in written.stderr


def test_show_prints_the_domain_proof(author, fqn, internet):
    publish(internet, author)
    assert author.json("tool", "show", fqn, "--check-domain")["proof"]["state"] == "proved"
    shown = author.run("tool", "show", fqn, "--check-domain")
    assert "proved: example.xyz lists the owner" in shown.stdout
    assert internet.asked == ["example.xyz"]  # the second time its word was kept


@pytest.mark.parametrize("arguments", [("--no-check-domain",), ()])
def test_domain_is_not_queried_when_disabled_or_on_a_local_network(
    author, fqn, internet, arguments
):
    publish(internet, author)
    assert author.json("tool", "show", fqn, *arguments)["proof"] is None
    assert internet.asked == []


def test_variable_enables_domain_check(author, fqn, internet):
    publish(internet, author)
    asked = author.json("tool", "show", fqn, NEXUS_TOOLS_CHECK_DOMAIN="on")
    assert asked["proof"]["state"] == "proved"
    kept_silent = author.json("tool", "show", fqn, NEXUS_TOOLS_CHECK_DOMAIN="off")
    assert kept_silent["proof"] is None


def test_list_queries_no_domain(author, fqn, internet):
    publish(internet, author)
    author.json("tool", "list", NEXUS_TOOLS_CHECK_DOMAIN="on")
    assert internet.asked == []


INVOKE = ("--input", '{"a": 1, "b": 2}', "--dry-run", "--yes", "--check-domain")


def test_paid_invocation_warns_of_a_name_its_domain_does_not_confirm(author, fqn, internet):
    publish(internet, author, STRANGER)
    result = author.run("tool", "invoke", fqn, *INVOKE)
    assert result.code == 0, result.stderr
    assert "does not confirm the tool's owner: example.xyz does not list the owner" in result.stderr


def test_silent_domain_causes_no_warning(author, fqn, internet):
    result = author.run("tool", "invoke", fqn, *INVOKE)
    assert result.code == 0, result.stderr
    assert "domain" not in result.stderr


def test_free_tool_queries_no_domain(author, fqn, internet):
    publish(internet, author, STRANGER)
    author.json("tool", "update", fqn, "--price", "0", "--yes")
    assert author.run("tool", "invoke", fqn, *INVOKE).code == 0
    assert internet.asked == []


def test_register_warns_of_an_unprovable_domain(author, definition, meta_file):
    path = meta_file(definition | {"fqn": "xyz.my_company.math.add@1"})
    result = author.run("tool", "register", "--from-meta", path, "--dry-run", "--yes")
    assert result.code == 0, result.stderr
    assert (
        "'my_company' has an underscore. You cannot prove the ownership of names in"
        in result.stderr
    )
    assert author.fails("tool", "proof", "xyz.my_company") == (7, "domain_unprovable")


def test_register_names_the_proof_document_on_public_networks(
    author, definition, meta_file, monkeypatch
):
    monkeypatch.setattr("nexus_tools.cli.tool.register.should_check_domains", lambda _: True)
    result = author.run("tool", "register", "--from-meta", meta_file(definition), "--yes")
    assert result.code == 0, result.stderr
    assert f"https://test.xyz{PATH}" in result.stderr
    assert "`nexus-tools tool proof xyz.test`" in result.stderr
