import re

import pytest

from nexus_tools.registry.tools import listing
from nexus_tools.sui.localnet import ThreadedLocalnet


@pytest.fixture
def domain_of_three(author, meta_file, definition, operator_leader):
    """Three tools of one domain, the second unregistered; the domain."""
    domain = definition["fqn"].split("@")[0]
    names = [f"{domain}.{name}@1" for name in ("gamma", "alpha", "beta")]
    for name, price in zip(names, ("0.3", "0.1", "0.2"), strict=True):
        path = meta_file(definition | {"fqn": name, "description": f"The {name}"})
        terms = ("--price", price, "--leader", operator_leader)
        author.json("tool", "register", "--from-meta", path, *terms, "--yes")
    author.json("tool", "unregister", names[1], "--yes")
    return domain


def labels(rows):
    return [row["fqn"].rsplit(".", 1)[1].removesuffix("@1") for row in rows]


def test_list_begins_with_the_newest_tool(author, domain_of_three):
    rows = author.json("tool", "list", "--domain", domain_of_three)
    assert labels(rows) == ["beta", "alpha", "gamma"]
    shown = author.json("tool", "show", rows[0]["fqn"])
    assert set(shown) - set(rows[0]) == {"proof"}  # a list asks no domain


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--sort", "name"], ["alpha", "beta", "gamma"]),
        (["--sort", "price"], ["alpha", "beta", "gamma"]),
        (["--sort", "name", "--reverse"], ["gamma", "beta", "alpha"]),
        (["--reverse"], ["gamma", "alpha", "beta"]),
        (["--sort", "name", "--limit", "2"], ["alpha", "beta"]),
        (["--sort", "name", "--all", "--limit", "1"], ["alpha", "beta", "gamma"]),
        (["--state", "unregistered"], ["alpha"]),
        (["--state", "active"], ["beta", "gamma"]),
        (["--search", "BETA"], ["beta"]),
        (["--search", "nothing like it"], []),
    ],
)
def test_list_is_filtered_and_sorted(author, domain_of_three, options, expected):
    assert labels(author.json("tool", "list", "--domain", domain_of_three, *options)) == expected


def test_owner_filter_accepts_an_address_or_alias(author, stranger, domain_of_three):
    address = author.json("wallet", "show")["address"]
    assert len(author.json("tool", "list", "--owner", address)) == 3
    assert len(author.json("tool", "list", "--owner", "author")) == 3
    assert stranger.json("tool", "list", "--owner", "stranger") == []
    assert author.fails("tool", "list", "--owner", "nobody") == (3, "account_unknown")
    assert author.fails("tool", "list", "--wallet", "nobody") == (3, "account_unknown")
    assert author.fails("tool", "list", "--owner", "0xnone")[0] == 7


def test_list_prints_a_note_if_the_page_is_full(author, domain_of_three):
    limited = author.run("tool", "list", "--limit", "2")
    assert re.search("listed the newest 2 of [0-9]+ tools. Use --all to list all", limited.stderr)
    mine = author.run("tool", "list", "--owner", "author", "--limit", "2")
    assert "checked the newest 2 of the owner's 3 tools. Use --all to check all" in mine.stderr
    complete = author.run("tool", "list", "--owner", "author", "--limit", "3")
    assert "--all" not in complete.stderr


def test_filtered_list_reads_registrations_up_to_the_bound(author, domain_of_three, monkeypatch):
    monkeypatch.setattr(listing, "MAX_SCANNED", 1)
    options = ("tool", "list", "--search", "gamma", "--domain", domain_of_three)
    bounded = author.run(*options, "--limit", "1")
    assert re.search("checked the newest 1 of [0-9]+ tools. Use --all to check all", bounded.stderr)
    assert "no matching tools" in bounded.stderr
    assert labels(author.json(*options, "--all")) == ["gamma"]


def test_list_is_printed_as_a_table(author, domain_of_three):
    lines = author.run("tool", "list", "--domain", domain_of_three).stdout.splitlines()
    assert any("Tool" in line and "Collateral" in line for line in lines)
    assert any("alpha@1" in line and "unregistered" in line and "0.1 SUI" in line for line in lines)


@pytest.mark.parametrize(
    "options", [["--domain", "no.such.domain"], ["--state", "suspended"], ["--only", "nonsense"]]
)
def test_empty_filtered_list_prints_a_message(author, options):
    result = author.run("tool", "list", *options)
    assert (result.code, result.stdout) == (0, "")
    assert "no matching tools" in result.stderr


def test_empty_registry_hints_at_register(home):
    with ThreadedLocalnet() as chain:
        home.configure(network="new", networks={"new": {"url": chain.url, "faucet_url": chain.url}})
        home.json("wallet", "new")
        home.json("localnet", "faucet")
        home.json("package", "publish", "--yes")
        result = home.run("tool", "list")
    assert (result.code, result.stdout) == (0, "")
    assert "nexus-tools tool register" in result.stderr


def test_show_needs_no_key(home, author, registered_fqn):
    (home.data / "sui.keystore").unlink()
    assert home.json("tool", "show", registered_fqn)["fqn"] == registered_fqn


def test_show_prints_ports_with_their_types(author, registered_fqn):
    shown = author.run("tool", "show", registered_fqn).stdout
    assert "inputs            a: integer, b: integer" in shown
    assert "variant ok        total: integer" in shown


def test_show_marks_optional_ports(author, definition, meta_file):
    schema = {
        "type": "object",
        "properties": {
            "words": {"type": "array", "items": {"type": "string"}},
            "unit": {"enum": ["km", "mi"]},
            "place": {"$ref": "#/$defs/Place"},
        },
        "required": ["words"],
        "$defs": {"Place": {"type": "object"}},
    }
    path = meta_file(definition | {"input_schema": schema})
    author.json("tool", "register", "--from-meta", path, "--yes")
    shown = author.run("tool", "show", definition["fqn"]).stdout
    assert "place?: Place, unit?: km | mi, words: array of string" in shown
