"""A deployment that is rehearsed: nothing is needed for it, and nothing is left of it."""


def test_estimate_prints_size_and_cost_of_each_transaction(home):
    document = home.json("package", "publish", "--estimate")
    rows = document["transactions"]
    assert [row["makes"] for row in rows] == [
        ["package", "LockRegistry"],
        ["package", "Admin", "LeaderRegistry", "Publisher", "ToolRegistry", "UpgradeLock"],
        ["package", "UpgradeLock"],
        ["DagRegistry"],
        [],
        [],
        ["Leader"],
        ["Name", "Tool"],
    ]
    assert [row["locked_mist"] for row in rows] == [*[0] * 6, 10_000_000_000, 1_000_000_000]
    assert all(0 < row["bytes"] <= 131_072 for row in rows)  # `max_tx_size_bytes`
    for row in rows:
        spent = row["computation_mist"] + row["storage_mist"] - row["rebate_mist"]
        assert row["cost_mist"] == spent > 0
    assert document["cost_mist"] == sum(row["cost_mist"] for row in rows)
    assert not home.config_file.exists()


def test_estimated_cost_equals_the_cost_of_a_deployment(home, publisher, new_home, chain):
    _, *rehearsed = home.json("package", "publish", "--estimate")["transactions"][:4]
    user = new_home("another", publisher)
    chain.fund(user.wallet.signer().address, 2 * 10**9)
    settings = user.settings
    del settings["deployments"]
    user.configure(**settings)
    published = user.json("package", "publish", "--yes")
    assert published["cost_mist"] == sum(each["cost_mist"] for each in rehearsed)


def test_free_package_is_estimated_without_a_lock(home):
    rows = home.json("package", "publish", "--estimate", "--free")["transactions"]
    assert rows[0]["makes"] == [
        *("package", "Admin", "LeaderRegistry", "Publisher", "ToolRegistry", "UpgradeCap")
    ]


def test_estimate_prints_a_table_and_sends_nothing(home):
    result = home.run("package", "publish", "--estimate")
    assert "the package, and lock its upgrades" in result.stdout
    assert "Nothing was sent" in result.stderr
