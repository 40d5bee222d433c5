"""One view of everything that a wallet has."""

DIVIDE = "xyz.example.math.divide@1"


def test_who_has_nothing_sees_money_and_that_there_is_nothing_else(author):
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
    assert "no tool is yours" in shown.stderr
    assert "next: `nexus-tools tool list`" in shown.stderr


def test_who_has_no_key_is_told_how_to_make_one(home, publisher):
    home.configure(**publisher.settings)
    status = home.json("status")
    assert (status["network"], status["wallet"], status["address"]) == ("test", None, None)
    assert [status[key] for key in ("tools", "pending", "closed", "leaders", "offers")] == [[]] * 5
    assert "`nexus-tools wallet new`" in status["next"]
    assert "`nexus-tools wallet new`" in home.run("status").stderr


def test_who_has_no_sui_is_told_of_the_faucet(home, publisher):
    home.configure(**publisher.settings)
    home.json("wallet", "new")
    assert "`nexus-tools localnet faucet`" in home.json("status")["next"]


def test_money_is_seen_where_the_package_is_not_published(author):
    author.configure(**author.settings | {"deployments": {}})
    status = author.json("status")
    assert status["money"]["balance_mist"] == 20_000_000_000
    assert "`nexus-tools package publish`" in status["next"]


def test_a_key_that_is_named_has_to_be_there(author):
    assert author.fails("status", "-w", "nobody") == (3, "account_unknown")


def test_a_seller_sees_tools_with_price_health_and_collateral(seller):
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
    assert "well" in seller.run("status").stdout


def test_a_tool_that_is_away_and_one_whose_timer_runs_are_seen(author, registered):
    [tool] = author.json("status")["tools"]
    assert tool["healthy"] is False
    assert tool["problem"]
    claimable = author.json("tool", "unregister", registered, "--yes")["claimable_at_ms"]
    [tool] = author.json("status")["tools"]
    assert (tool["state"], tool["healthy"], tool["claimable_at_ms"]) == (
        "unregistered",
        None,
        claimable,
    )
    assert "(in 6 d" in author.run("status").stdout or "(in 7 d" in author.run("status").stdout


def test_an_operator_sees_the_leader(operator):
    [leader] = operator.json("leader", "status")
    [seen] = operator.json("status")["leaders"]
    assert seen["leader"] == leader["leader"]
    assert (seen["state"], seen["collateral_mist"]) == ("active", leader["collateral_mist"])


def test_a_requester_sees_what_was_closed(requester):
    arguments = ("tool", "invoke", DIVIDE, "--input", '{"dividend": 8, "divisor": 2}', "--yes")
    done = requester.json(*arguments)
    status = requester.json("status")
    [closed] = status["closed"]
    assert closed["invocation"] == done["invocation"]
    assert (closed["state"], closed["outcome"]) == ("settled", "ok")
    assert status["pending"] == []
    assert status["money"]["prepaid_mist"] == 0


def test_whoever_is_offered_something_sees_it(author, stranger, registered):
    name = registered.partition("@")[0]
    author.json("tool", "offer", name, stranger.wallet.signer().address, "--yes")
    [offer] = stranger.json("status")["offers"]
    assert offer == {
        "what": "name",
        "name": name,
        "owner": author.json("wallet", "show")["address"],
        "accept": f"nexus-tools tool accept {name}",
    }
    assert offer["accept"] in stranger.run("status").stdout
    author.json("tool", "offer", name, "--cancel", "--yes")
    assert stranger.json("status")["offers"] == []


def test_a_requester_sees_what_is_pending(requester):
    arguments = ("tool", "invoke", "xyz.example.time.nap@1", "--no-wait", "--yes")
    place = requester.json(*arguments, "--input", '{"duration_ms": 3000}')
    status = requester.json("status")
    assert [row["invocation"] for row in status["pending"]] == [place["invocation"]]
    assert status["money"]["prepaid_mist"] == place["prepaid_mist"]
    requester.json("tool", "outcome", place["invocation"], "--wait")
