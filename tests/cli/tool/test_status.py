"""One view of everything that a wallet has."""

from nexus_tools.cli import status as status_command
from nexus_tools.cli.shared import offer as offers
from tests.cli.conftest import make_definition

DIVIDE = "xyz.example.math.divide@1"


def test_status_of_empty_wallet_shows_balance(author):
    status = author.json("status")
    assert status["money"] == {
        "balance_mist": 20_000_000_000,
        "locked_mist": 0,
        "prepaid_mist": 0,
    }
    assert (status["network"], status["wallet"]) == ("test", "author")
    assert [status[key] for key in ("tools", "pending", "closed", "leaders", "offers")] == [[]] * 5
    shown = author.run("status")
    assert "20 SUI" in shown.stdout
    assert "you do not own any tools" in shown.stderr
    assert "next: run `nexus-tools tool list`" in shown.stderr


def test_status_without_key_hints_at_wallet_new(home, publisher):
    home.configure(**publisher.settings)
    status = home.json("status")
    assert (status["network"], status["wallet"], status["address"]) == ("test", None, None)
    assert [status[key] for key in ("tools", "pending", "closed", "leaders", "offers")] == [[]] * 5
    assert "`nexus-tools wallet new`" in status["next"]
    assert "`nexus-tools wallet new`" in home.run("status").stderr


def test_status_without_sui_hints_at_faucet(home, publisher):
    home.configure(**publisher.settings)
    home.json("wallet", "new")
    assert "`nexus-tools localnet faucet`" in home.json("status")["next"]


def test_status_shows_balance_without_package(author):
    author.configure(**author.settings | {"deployments": {}})
    status = author.json("status")
    assert status["money"]["balance_mist"] == 20_000_000_000
    assert "`nexus-tools package publish`" in status["next"]


def test_unknown_wallet_is_rejected(author):
    assert author.fails("status", "-w", "nobody") == (3, "account_unknown")


def test_status_shows_tools_of_owner(seller):
    status = seller.json("status")
    tool = next(tool for tool in status["tools"] if tool["fqn"] == DIVIDE)
    assert (
        tool.items()
        >= {
            "fqn": DIVIDE,
            "state": "active",
            "healthy": True,
            "problem": None,
            "price_mist": 10_000_000,
            "collateral_mist": 1_000_000_000,
            "claimable_at_ms": None,
            "pending_slash": None,
        }.items()
    )
    assert status["money"]["locked_mist"] == 1_000_000_000 * len(status["tools"])
    assert "healthy" in seller.run("status").stdout


def test_status_shows_unreachable_and_unregistered_tools(author, registered_fqn):
    [tool] = author.json("status")["tools"]
    assert tool["healthy"] is False
    assert tool["problem"]
    claimable = author.json("tool", "unregister", registered_fqn, "--yes")["claimable_at_ms"]
    [tool] = author.json("status")["tools"]
    assert (tool["state"], tool["healthy"], tool["claimable_at_ms"]) == (
        "unregistered",
        None,
        claimable,
    )
    assert "(in 6 d" in author.run("status").stdout or "(in 7 d" in author.run("status").stdout


def test_status_shows_leader(operator):
    [leader] = operator.json("leader", "status")
    [seen] = operator.json("status")["leaders"]
    assert seen["leader"] == leader["leader"]
    assert (seen["state"], seen["collateral_mist"]) == ("active", leader["collateral_mist"])


def test_status_shows_closed_invocations(requester):
    arguments = ("tool", "invoke", DIVIDE, "--input", '{"dividend": 8, "divisor": 2}', "--yes")
    done = requester.json(*arguments)
    status = requester.json("status")
    [closed] = status["closed"]
    assert closed["invocation"] == done["invocation"]
    assert (closed["state"], closed["outcome"]) == ("settled", "ok")
    assert status["pending"] == []
    assert status["money"]["prepaid_mist"] == 0


def test_status_shows_the_newest_tools_of_a_large_owner(
    author, registered_fqn, meta_file, monkeypatch
):
    monkeypatch.setattr(status_command, "_MAX_TOOLS", 1)
    newest = make_definition("newest of two")
    author.json("tool", "register", "--from-meta", meta_file(newest), "--yes")
    status = author.json("status")
    assert [tool["fqn"] for tool in status["tools"]] == [newest["fqn"]]
    assert status["money"]["locked_mist"] == 2_000_000_000
    shown = author.run("status").stderr
    assert "only the newest 1 of your 2 tools are shown" in shown
    assert f"--owner {status['address']} --all" in shown


def test_status_shows_an_offer_despite_later_offers_within_the_bound(
    author, stranger, registered_fqn, meta_file, monkeypatch
):
    monkeypatch.setattr(offers, "_MAX_OFFERS", 4)
    name = registered_fqn.split("@")[0]
    author.json("tool", "offer", name, stranger.wallet.signer().address, "--yes")
    flood = make_definition("another offered tool")
    author.json("tool", "register", "--from-meta", meta_file(flood), "--yes")
    for number in range(3):
        someone = f"0x{0xABC + number:064x}"
        author.json("tool", "offer", flood["fqn"].split("@")[0], someone, "--yes")
    [offer] = stranger.json("status")["offers"]
    assert offer["name"] == name


def test_status_shows_offers(author, stranger, registered_fqn):
    name = registered_fqn.partition("@")[0]
    author.json("tool", "offer", name, stranger.wallet.signer().address, "--yes")
    [offer] = stranger.json("status")["offers"]
    assert offer == {
        "kind": "name",
        "name": name,
        "owner": author.json("wallet", "show")["address"],
        "accept": f"nexus-tools tool accept {name}",
    }
    assert offer["accept"] in stranger.run("status").stdout
    author.json("tool", "offer", name, "--cancel", "--yes")
    assert stranger.json("status")["offers"] == []


def test_status_shows_pending_invocations(requester):
    arguments = ("tool", "invoke", "xyz.example.time.nap@1", "--no-wait", "--yes")
    place = requester.json(*arguments, "--input", '{"duration_ms": 3000}')
    status = requester.json("status")
    assert [row["invocation"] for row in status["pending"]] == [place["invocation"]]
    assert status["money"]["prepaid_mist"] == place["prepaid_mist"]
    requester.json("tool", "outcome", place["invocation"], "--wait")
