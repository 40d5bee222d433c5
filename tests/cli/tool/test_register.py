import json

import pytest


def balance(user):
    return user.json("wallet", "show")["balance_mist"]


def test_a_tool_is_registered_from_a_file_and_its_collateral_locked(
    author, definition, meta_file, carrier
):
    before = balance(author)
    arguments = ("tool", "register", "--from-meta", meta_file(definition), "--price", "0.25")
    document = author.json(*arguments, "--leader", carrier, "--yes")
    [row] = document["tools"]
    assert row["fqn"] == definition["fqn"]
    assert row["registered"] is True
    assert document["collateral_mist"] == 1_000_000_000
    assert before - balance(author) == document["collateral_mist"] + document["cost_mist"]
    assert document["events"] == ["ToolRegistered", "CollateralLocked"]
    tool = author.json("tool", "show", definition["fqn"])
    assert (tool["tool"], tool["leaders"]) == (row["tool"], [carrier])
    assert tool["owner"] == author.json("wallet", "show")["address"]
    assert tool["price_mist"] == 250_000_000
    assert tool["input_schema"] == definition["input_schema"]


def test_definitions_are_read_from_stdin_as_serve_prints_them(author, definition):
    second = definition | {"fqn": definition["fqn"].replace("@1", "@2")}
    result = author.run(
        *("tool", "register", "--from-meta", "-", "--yes", "--json"),
        stdin=json.dumps([definition, second]),
    )
    assert result.code == 0, result.stderr
    assert [row["fqn"] for row in result.document["tools"]] == [definition["fqn"], second["fqn"]]
    assert result.document["collateral_mist"] == 2_000_000_000


def test_all_tools_of_a_server_are_registered_in_one_transaction(author, served):
    document = author.json("tool", "register", "--url", served, "--all", "--yes")
    assert {row["fqn"] for row in document["tools"]} == {
        "xyz.example.math.divide@1",
        "xyz.example.text.count_words@1",
        "xyz.example.time.nap@1",
    }
    assert document["events"] == ["ToolRegistered", "CollateralLocked"] * 3
    again = author.json("tool", "register", "--url", served, "--all", "--yes")
    assert {row["registered"] for row in again["tools"]} == {False}
    assert (again["digest"], again["collateral_mist"]) == (None, 0)


def test_what_is_registered_already_is_a_success_that_says_so(
    author, registered, definition, meta_file
):
    result = author.run("tool", "register", "--from-meta", meta_file(definition))
    assert result.code == 0  # and nobody is asked, because nothing is to be done
    assert f"{registered} is registered already" in result.stderr


def test_a_price_for_what_is_registered_already_is_not_dropped_in_silence(
    author, registered, definition, meta_file
):
    arguments = ("tool", "register", "--from-meta", meta_file(definition))
    result = author.run(*arguments, "--price", "7")
    assert result.code == 0
    assert f"the price of {registered} is 0.001 SUI, as it was before" in result.stderr
    assert f"tool update {registered} --price" in result.stderr
    assert author.json(*arguments, "--price", "7")["tools"][0]["price_mist"] == 1_000_000
    assert "as it was before" not in author.run(*arguments, "--price", "0.001").stderr


def test_a_new_version_without_a_price_says_that_it_costs_nothing(
    author, registered, definition, meta_file
):
    second = registered.replace("@1", "@2")
    arguments = ("tool", "register", "--from-meta", meta_file(definition | {"fqn": second}))
    asked = author.run(*arguments)
    assert f"Register {second}, at 0 SUI an invocation: lock 1 SUI" in asked.stderr
    done = author.run(*arguments, "--yes")
    assert f"{second} costs 0 SUI, whatever earlier versions cost" in done.stderr
    assert author.json("tool", "show", second)["price_mist"] == 0


def test_another_definition_under_the_same_name_is_refused(
    author, registered, definition, meta_file
):
    changed = definition | {"description": "Multiplies."}
    arguments = ("tool", "register", "--from-meta", meta_file(changed), "--yes")
    assert author.fails(*arguments) == (7, "definition_differs")
    assert author.json("tool", "show", registered)["description"] == definition["description"]


def test_a_dry_run_changes_nothing(author, definition, meta_file):
    before = balance(author)
    document = author.json("tool", "register", "--from-meta", meta_file(definition), "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["cost_mist"] > 0
    assert document["effects"]["created"]
    assert balance(author) == before
    assert author.fails("tool", "show", definition["fqn"]) == (3, "tool_unknown")


def test_without_yes_nothing_is_locked_where_nobody_can_be_asked(author, definition, meta_file):
    before = balance(author)
    result = author.run("tool", "register", "--from-meta", meta_file(definition))
    assert result.code == 2
    assert "lock 1 SUI, which can be claimed 7 d after unregistering" in result.stderr
    assert "pass --yes" in result.stderr
    assert balance(author) == before


def test_a_name_of_somebody_else_cannot_be_used(
    stranger, author, registered, definition, meta_file
):
    second = definition | {"fqn": registered.replace("@1", "@2")}
    arguments = ("tool", "register", "--from-meta", meta_file(second), "--yes")
    assert stranger.fails(*arguments) == (8, "name_taken")


def test_too_little_sui_is_said_in_words(author, definition, meta_file):
    many = [definition | {"fqn": f"xyz.poor.tool@{version}"} for version in range(1, 23)]
    result = author.run("tool", "register", "--from-meta", meta_file(many), "--yes", "--json")
    assert (result.code, result.error["code"]) == (4, "not_enough_sui")
    assert "20 SUI" in result.error["message"]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"fqn": "xyz.add@1"}, "fqn_invalid", "domain"),
        ({"fqn": "xyz.test.add"}, "fqn_invalid", "version"),
        ({"output_schema": {"type": "object"}}, "schema_invalid", "oneOf"),
        ({"input_schema": {"$ref": "https://evil.example/x.json"}}, "schema_invalid", "$ref"),
        ({"url": "ftp://example.com"}, "definition_invalid", "url"),
        ({"timeout": 5}, "definition_invalid", "timeout"),
        ({"colour": "red"}, "definition_invalid", "colour"),
    ],
)
def test_a_definition_that_breaks_a_rule_is_refused_in_words(
    author, definition, meta_file, change, code, words
):
    path = meta_file(definition | change)
    result = author.run("tool", "register", "--from-meta", path, "--yes", "--json")
    assert (result.code, result.error["code"]) == (7, code)
    assert words in result.error["message"]


@pytest.mark.parametrize("text", ["", "{", '{"fqn": 1, "fqn": 2}', "[]", "3"])
def test_a_file_that_has_no_definition_is_refused(author, tmp_path, text):
    (tmp_path / "meta.json").write_text(text)
    result = author.run("tool", "register", "--from-meta", tmp_path / "meta.json", "--json")
    assert result.code in (2, 7)
    assert result.error["message"]


def test_a_file_that_cannot_be_read_is_named(author, tmp_path):
    result = author.run("tool", "register", "--from-meta", tmp_path / "none.json", "--json")
    assert (result.code, result.error["code"]) == (2, "file_unreadable")
    assert "none.json" in result.error["message"]


@pytest.mark.parametrize("arguments", [[], ["--url", "http://x", "--from-meta", "y"]])
def test_one_source_has_to_be_named(author, arguments):
    assert author.fails("tool", "register", *arguments) == (2, "source_missing")


def test_a_server_that_does_not_respond_is_unreachable(author):
    arguments = ("tool", "register", "--url", "http://127.0.0.1:1", "--yes")
    assert author.fails(*arguments) == (6, "tool_unreachable")
    assert "`nexus-tools tool serve FILE`" in author.run(*arguments).stderr


def test_a_url_of_no_tool_gets_those_that_the_server_has(author, served):
    wrong = f"{served}/xyz.example.math.dvide@1"
    error = author.run("tool", "register", "--url", wrong, "--yes", "--json").error
    assert error["code"] == "not_a_tool"
    assert f"{served}/xyz.example.math.divide@1" in error["hint"]


def test_a_file_instead_of_a_url_is_told_how_to_be_served(author, examples):
    file = examples / "tools.py"
    error = author.run("tool", "register", "--url", file, "--yes", "--json").error
    assert f"`nexus-tools tool serve {file}`" in error["hint"]


def test_too_little_collateral_is_told_how_much_is_enough(author, meta_file, definition):
    register = ("tool", "register", "--from-meta", meta_file(definition), "--yes")
    error = author.run(*register, "--collateral", "0.1", "--json").error
    assert error["code"] == "collateral_too_small"
    assert "lock 1 SUI or more" in error["hint"]


def test_the_root_of_a_server_of_several_tools_is_no_tool(author, served):
    result = author.run("tool", "register", "--url", served, "--yes", "--json")
    assert (result.code, result.error["code"]) == (7, "not_a_tool")
    assert "--all" in result.error["hint"]
