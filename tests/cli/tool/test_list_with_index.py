"""`tool list` with an index, which may be stale, deleted, or full of lies."""

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.registry import Invocations
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason


@pytest.fixture
def domain(author, meta_file, definition, operator_leader):
    """Three tools of one domain, the second unregistered; the domain."""
    domain = definition["fqn"].split("@")[0]
    words = {"gamma": "Measures rays.", "alpha": "Counts particles.", "beta": "Weighs decay."}
    for (name, text), price in zip(words.items(), ("0.3", "0.1", "0.2"), strict=True):
        fqn = f"{domain}.{name}@1"
        path = meta_file(definition | {"fqn": fqn, "description": text})
        terms = ("--price", price, "--leader", operator_leader)
        author.json("tool", "register", "--from-meta", path, *terms, "--yes")
    author.json("tool", "unregister", f"{domain}.alpha@1", "--yes")
    return domain


@pytest.fixture
def index(author, domain):
    """The path of a current index."""
    return Path(author.json("index", "run", "--once")["path"])


@pytest.fixture
def listed(author, domain):
    """Return a function that lists tools of the domain."""
    return lambda *options: author.json("tool", "list", "--domain", domain, *options)


def change(index, statement, *values):
    """Write a lie into the index."""
    with closing(sqlite3.connect(index)) as connection, connection:
        assert connection.execute(statement, values).rowcount


def rename(index, fqn, old):
    change(index, "UPDATE tools SET fqn = ? WHERE fqn = ?", fqn, old)


def labels(rows):
    return [row["fqn"].rsplit(".", 1)[1].removesuffix("@1") for row in rows]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["beta", "alpha", "gamma"]),
        (["--sort", "name"], ["alpha", "beta", "gamma"]),
        (["--sort", "price", "--limit", "1"], ["alpha"]),
        (["--sort", "name", "--all", "--limit", "1"], ["alpha", "beta", "gamma"]),
        (["--state", "unregistered"], ["alpha"]),
        (["--state", "active"], ["beta", "gamma"]),
        (["--search", "decaying"], ["beta"]),
        (["--search", "zebra"], []),
        (["--owner", "author"], ["beta", "alpha", "gamma"]),
        (["--only", "*.gamma"], ["gamma"]),
        (["--search", "particles", "--state", "unregistered"], ["alpha"]),
    ],
)
def test_index_and_chain_list_the_same_tools(listed, index, options, expected):
    assert labels(listed(*options)) == expected
    # The chain finds no other forms of words, and sorts only the newest tools.
    if "decaying" not in options and "price" not in options:
        assert labels(listed(*options, "--no-index")) == expected


def test_list_names_its_source_and_the_reason(author, domain, listed, index):
    checkpoint = author.json("index", "status")["checkpoint"]
    [row] = listed("--search", "decay")
    assert row["source"] == f"index, checkpoint {checkpoint}"
    assert row["reason"] == "'decay' is in the description."
    result = author.run("tool", "list", "--search", "decay", "--domain", domain)
    assert f"source: index, checkpoint {checkpoint}" in result.stderr
    assert "'decay' is in the" in " ".join(result.stdout.split())
    assert {row["source"] for row in listed("--no-index")} == {"chain"}


def test_missing_index_is_noted_if_it_would_help(author, domain, listed):
    for path in Path(author.data, "index").glob("*.sqlite*"):
        path.unlink()
    result = author.run("tool", "list", "--search", "decay")
    assert "source: chain, because the index" in result.stderr
    assert "`nexus-tools index run`" in result.stderr
    assert {row["source"] for row in listed()} == {"chain"}
    assert "index" not in author.run("tool", "list").stderr
    assert "index" not in author.run("tool", "list", "--search", "decay", "--no-index").stderr


def test_stale_index_is_not_used(author, chain, domain, index, definition, meta_file):
    document = definition | {"fqn": f"{domain}.later@1"}
    chain.advance_clock(61_000)
    author.json("tool", "register", "--from-meta", meta_file(document), "--yes")
    result = author.run("tool", "list", "--limit", "1", "--json")
    assert [row["fqn"] for row in result.document] == [document["fqn"]]
    assert "behind the chain" in result.stderr
    assert {row["source"] for row in result.document} == {"chain"}


def test_lies_of_the_index_are_not_shown(author, listed, index):
    change(index, "UPDATE tools SET price_mist = 1, description = 'Free!', url = 'http://evil'")
    change(index, "UPDATE tools SET owner = payout + 1, state = 'active'")
    rows = listed("--sort", "price")
    assert [row["price_mist"] for row in rows] == [10**8, 2 * 10**8, 3 * 10**8]
    assert {row["description"] for row in rows} == {
        "Measures rays.",
        "Counts particles.",
        "Weighs decay.",
    }
    assert {row["owner"] for row in rows} == {author.json("wallet", "show")["address"]}
    assert rows[0]["state"] == "unregistered"


def test_tool_that_exists_only_in_the_index_is_omitted(author, domain, index):
    change(
        index, "UPDATE tools SET fqn = ? WHERE fqn = ?", f"{domain}.invented@1", f"{domain}.beta@1"
    )
    rename(index, f"{domain}.No FQN", f"{domain}.gamma@1")
    result = author.run("tool", "list", "--domain", domain, "--json")
    assert labels(result.document) == ["alpha"]
    assert "omitted 1 tool" in result.stderr


def test_renamed_tool_does_not_show_another_one(author, domain, index):
    """An index that swaps names cannot show the price of one tool for another."""
    change(
        index, "UPDATE tools SET fqn = ? WHERE fqn = ?", f"{domain}.other@1", f"{domain}.gamma@1"
    )
    rename(index, f"{domain}.gamma@1", f"{domain}.beta@1")
    rows = author.json("tool", "list", "--domain", domain)
    shown = {row["fqn"].rsplit(".", 1)[1]: row["price_mist"] for row in rows}
    assert shown == {"gamma@1": 3 * 10**8, "alpha@1": 10**8}


def test_tool_that_was_unregistered_since_is_not_found(author, domain, index):
    author.json("tool", "unregister", f"{domain}.beta@1", "--yes")
    result = author.run("tool", "list", "--domain", domain, "--search", "decay", "--json")
    assert result.document == []
    assert "omitted 1 tool" in result.stderr


def test_owner_filter_uses_the_owner_on_chain(author, stranger, domain, index):
    owner = Address.parse(stranger.json("wallet", "show")["address"])
    with closing(sqlite3.connect(index)) as connection, connection:
        row = connection.execute(
            "INSERT INTO addresses (address, checkpoint) VALUES (?, 0)", (bytes(owner),)
        )
        connection.execute("UPDATE tools SET owner = ?", (row.lastrowid,))
    assert author.json("tool", "list", "--domain", domain, "--owner", str(owner)) == []


def test_index_of_another_network_is_not_used(author, listed, index):
    change(index, "UPDATE identity SET chain_id = 'other'")
    result = author.run("tool", "list", "--search", "decay", "--json")
    assert "belongs to another network" in result.stderr
    assert {row["source"] for row in result.document} == {"chain"}


def test_damaged_index_is_not_used(author, listed, index):
    os.truncate(index, 5_000)
    result = author.run("tool", "list", "--search", "decay", "--json")
    assert "source: chain, because cannot read the index" in result.stderr
    assert labels(result.document)[0] == "beta"


def test_missing_text_index_is_noted(author, listed, index):
    shutil.rmtree(index.with_suffix(".search"))
    result = author.run("tool", "list", "--search", "decay", "--json")
    assert "no usable search index" in result.stderr
    assert {row["source"] for row in result.document} == {"chain"}


def test_hostile_description_cannot_control_the_terminal(author, meta_file, definition, domain):
    document = definition | {"fqn": f"{domain}.hostile@1"}
    text = "Quark\x1b[31mred\u202e flavour"
    path = meta_file(document | {"description": text})
    author.json("tool", "register", "--from-meta", path, "--yes")
    author.json("index", "run", "--once")
    result = author.run("tool", "list", "--search", "quark flavour", "--domain", domain)
    assert document["fqn"] in result.stdout.replace("\n", "")
    assert "\x1b[31m" not in result.stdout
    assert "\u202e" not in result.stdout + result.stderr


# --- Own experience, and the record of all accounts


@pytest.fixture
def call(chain, operator, operator_leader):
    """Return a function that calls a tool as a user, and closes the invocation."""

    def call(user, fqn, outcome):
        arguments = ("--input", "a=1", "--input", "b=2", "--no-wait", "--yes")
        invocation = Address.parse(user.json("tool", "invoke", fqn, *arguments)["invocation"])

        async def close():
            network = Network("test", chain.url, chain.url)
            deployment = Deployment.parse(operator.settings["deployments"]["test"])
            async with SuiClient(network, operator.wallet.signer()) as client:
                invocations = Invocations(client, deployment)
                await invocations.close(Address.parse(operator_leader), {invocation: outcome})

        asyncio.run(close())

    return call


@pytest.fixture
def called(author, stranger, domain, call):
    """Tools that the author and another user have called: `beta` failed for the author."""
    author.json("tool", "cancel-unregister", f"{domain}.alpha@1", "--yes")
    answer, failure = Answer("ok", {"total": 3}), Failure(FailureReason.UNREACHABLE, "no route")
    call(author, f"{domain}.gamma@1", answer)
    call(author, f"{domain}.beta@1", failure)
    call(stranger, f"{domain}.beta@1", answer)
    call(stranger, f"{domain}.alpha@1", answer)
    author.json("index", "run", "--once")


def test_own_calls_decide_before_the_record_of_all_accounts(listed, called):
    rows = listed("--sort", "reputation")
    assert labels(rows) == ["gamma", "alpha", "beta"]
    assert rows[0]["reputation"] == rows[1]["reputation"] > rows[2]["reputation"]
    assert rows[0]["reason"].startswith("For you, 1 of 1 calls succeeded.")
    assert rows[2]["reason"] == (
        "For you, 0 of 1 calls succeeded. For all accounts, 1 of 2 calls in 30 days succeeded."
    )
    assert labels(listed("--sort", "reputation", "--limit", "2", "--reverse")) == ["alpha", "gamma"]


def test_volume_counts_the_own_amount_before_that_of_all_accounts(author, domain, listed, called):
    rows = listed("--sort", "volume")
    assert labels(rows) == ["gamma", "beta", "alpha"]
    assert [row["volume_mist"] for row in rows] == [3 * 10**8, 2 * 10**8, 10**8]
    text = author.run("tool", "list", "--domain", domain, "--sort", "volume").stdout
    assert "Volume" in text
    assert "0.3 SUI" in text
    found = listed("--sort", "volume", "--search", "particles rays decay")
    assert labels(found) == ["gamma", "beta", "alpha"]


def test_sort_key_of_the_index_needs_an_index(author, domain, index):
    options = ("tool", "list", "--sort", "reputation")
    assert author.fails(*options, "--no-index") == (2, "option_not_applicable")
    os.truncate(index, 5_000)
    assert author.fails(*options) == (7, "index_invalid")
    index.unlink()
    result = author.run(*options, "--json")
    assert (result.code, result.error["code"]) == (3, "index_missing")
    assert "nexus-tools index run" in result.error["hint"]
