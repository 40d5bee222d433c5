import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


def balance(user):
    return user.json("wallet", "show")["balance_mist"]


def test_register_from_file_locks_collateral(author, definition, meta_file, operator_leader):
    before = balance(author)
    arguments = ("tool", "register", "--from-meta", meta_file(definition), "--price", "0.25")
    document = author.json(*arguments, "--leader", operator_leader, "--yes")
    [row] = document["tools"]
    assert row["fqn"] == definition["fqn"]
    assert row["registered"] is True
    assert document["collateral_mist"] == 1_000_000_000
    assert before - balance(author) == document["collateral_mist"] + document["cost_mist"]
    assert document["events"] == ["ToolRegistered", "CollateralLocked"]
    tool = author.json("tool", "show", definition["fqn"])
    assert (tool["tool"], tool["leaders"]) == (row["tool"], [operator_leader])
    assert tool["owner"] == author.json("wallet", "show")["address"]
    assert tool["price_mist"] == 250_000_000
    assert tool["input_schema"] == definition["input_schema"]


def test_register_reads_definitions_from_stdin(author, definition):
    second = definition | {"fqn": definition["fqn"].replace("@1", "@2")}
    result = author.run(
        *("tool", "register", "--from-meta", "-", "--yes", "--json"),
        stdin=json.dumps([definition, second]),
    )
    assert result.code == 0, result.stderr
    assert [row["fqn"] for row in result.document["tools"]] == [definition["fqn"], second["fqn"]]
    assert result.document["collateral_mist"] == 2_000_000_000


def test_register_all_uses_one_transaction(author, tool_server_url):
    document = author.json("tool", "register", "--url", tool_server_url, "--all", "--yes")
    assert {row["fqn"] for row in document["tools"]} == {
        "xyz.example.math.divide@1",
        "xyz.example.text.count_words@1",
        "xyz.example.time.nap@1",
    }
    assert document["events"] == ["ToolRegistered", "CollateralLocked"] * 3
    again = author.json("tool", "register", "--url", tool_server_url, "--all", "--yes")
    assert {row["registered"] for row in again["tools"]} == {False}
    assert (again["digest"], again["collateral_mist"]) == (None, 0)


def test_register_existing_tool_succeeds(author, registered_fqn, definition, meta_file):
    result = author.run("tool", "register", "--from-meta", meta_file(definition))
    assert result.code == 0  # without a prompt, because nothing changes
    assert f"{registered_fqn} is already registered" in result.stderr


def test_register_warns_of_unchanged_price(author, registered_fqn, definition, meta_file):
    arguments = ("tool", "register", "--from-meta", meta_file(definition))
    result = author.run(*arguments, "--price", "7")
    assert result.code == 0
    assert f"the price of {registered_fqn} stays 0.001 SUI" in result.stderr
    assert f"tool update {registered_fqn} --price" in result.stderr
    assert author.json(*arguments, "--price", "7")["tools"][0]["price_mist"] == 1_000_000
    assert (
        f"the price of {registered_fqn} stays"
        not in author.run(*arguments, "--price", "0.001").stderr
    )


@pytest.mark.parametrize(("options", "is_told"), [((), True), (("--network", "test"), False)])
def test_register_warns_if_a_priced_tool_accepts_unsigned_calls(
    author, operator_leader, tmp_path, options, is_told
):
    code = (EXAMPLES / "tools.py").read_text().replace("math.divide", f"math.divide{len(options)}")
    (tmp_path / "tools.py").write_text(code)
    serve = ("tool", "serve", f"{tmp_path / 'tools.py'}:divide", "--bind", "127.0.0.1:0")
    url = author.daemon("divide", *serve, *options).line.strip().split(" at ")[1]
    register = ("tool", "register", "--dry-run", "--url", url)
    assert "without a payment" not in author.run(*register).stderr
    told = author.run(*register, "--price", "0.25", "--leader", operator_leader)
    assert told.code == 0, told.stderr
    assert (f"anyone can call {url} without a payment" in told.stderr) is is_told


def test_register_warns_of_free_new_version(author, registered_fqn, definition, meta_file):
    second = registered_fqn.replace("@1", "@2")
    arguments = ("tool", "register", "--from-meta", meta_file(definition | {"fqn": second}))
    asked = author.run(*arguments)
    assert f"Register {second}, at 0 SUI per invocation, lock 1 SUI" in asked.stderr
    done = author.run(*arguments, "--yes")
    assert f"{second} costs 0 SUI, independent of earlier versions" in done.stderr
    assert author.json("tool", "show", second)["price_mist"] == 0


def test_register_rejects_other_definition_of_fqn(author, registered_fqn, definition, meta_file):
    changed = definition | {"description": "Multiplies."}
    arguments = ("tool", "register", "--from-meta", meta_file(changed), "--yes")
    assert author.fails(*arguments) == (7, "definition_differs")
    assert author.json("tool", "show", registered_fqn)["description"] == definition["description"]


def test_dry_run_changes_nothing(author, definition, meta_file):
    before = balance(author)
    document = author.json("tool", "register", "--from-meta", meta_file(definition), "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["cost_mist"] > 0
    assert document["effects"]["created"]
    assert balance(author) == before
    assert author.fails("tool", "show", definition["fqn"]) == (3, "tool_unknown")


def test_register_needs_yes_without_terminal(author, definition, meta_file):
    before = balance(author)
    result = author.run("tool", "register", "--from-meta", meta_file(definition))
    assert result.code == 2
    assert "lock 1 SUI, claimable 7 d after unregistering" in result.stderr
    assert "Pass --yes" in result.stderr
    assert balance(author) == before


def test_register_rejects_name_of_other_owner(
    stranger, author, registered_fqn, definition, meta_file
):
    second = definition | {"fqn": registered_fqn.replace("@1", "@2")}
    arguments = ("tool", "register", "--from-meta", meta_file(second), "--yes")
    assert stranger.fails(*arguments) == (8, "name_taken")


def test_register_reports_insufficient_funds(author, definition, meta_file):
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
        ({"url": "ftp://example.com"}, "definition_invalid", "URL"),
        ({"timeout": 5}, "definition_invalid", "timeout"),
        ({"colour": "red"}, "definition_invalid", "colour"),
    ],
)
def test_register_rejects_invalid_definition(author, definition, meta_file, change, code, words):
    path = meta_file(definition | change)
    result = author.run("tool", "register", "--from-meta", path, "--yes", "--json")
    assert (result.code, result.error["code"]) == (7, code)
    assert words in result.error["message"]


@pytest.mark.parametrize("text", ["", "{", '{"fqn": 1, "fqn": 2}', "[]", "3"])
def test_register_rejects_file_without_definitions(author, tmp_path, text):
    (tmp_path / "meta.json").write_text(text)
    result = author.run("tool", "register", "--from-meta", tmp_path / "meta.json", "--json")
    assert result.code in (2, 7)
    assert result.error["message"]


def test_unreadable_file_is_named(author, tmp_path):
    result = author.run("tool", "register", "--from-meta", tmp_path / "none.json", "--json")
    assert (result.code, result.error["code"]) == (2, "output_file_unreadable")
    assert "none.json" in result.error["message"]


@pytest.mark.parametrize("arguments", [[], ["--url", "http://x", "--from-meta", "y"]])
def test_register_needs_one_source(author, arguments):
    assert author.fails("tool", "register", *arguments) == (2, "source_missing")


def test_register_reports_unreachable_server(author):
    arguments = ("tool", "register", "--url", "http://127.0.0.1:1", "--yes")
    assert author.fails(*arguments) == (6, "tool_unreachable")
    assert "`nexus-tools tool serve FILE`" in author.run(*arguments).stderr


def test_wrong_url_hints_at_urls_of_tools(author, tool_server_url):
    wrong = f"{tool_server_url}/xyz.example.math.dvide@1"
    error = author.run("tool", "register", "--url", wrong, "--yes", "--json").error
    assert error["code"] == "not_a_tool"
    assert f"{tool_server_url}/xyz.example.math.divide@1" in error["hint"]


def test_file_as_url_hints_at_serve(author, examples):
    file = examples / "tools.py"
    error = author.run("tool", "register", "--url", file, "--yes", "--json").error
    assert f"`nexus-tools tool serve {file}`" in error["hint"]


def test_insufficient_collateral_names_minimum(author, meta_file, definition):
    register = ("tool", "register", "--from-meta", meta_file(definition), "--yes")
    error = author.run(*register, "--collateral", "0.1", "--json").error
    assert error["code"] == "collateral_too_small"
    assert "Lock at least 1 SUI" in error["hint"]


def test_server_root_is_not_a_tool(author, tool_server_url):
    result = author.run("tool", "register", "--url", tool_server_url, "--yes", "--json")
    assert (result.code, result.error["code"]) == (7, "not_a_tool")
    assert "--all" in result.error["hint"]


def test_dry_run_lists_ports_without_a_text(author, definition, meta_file):
    result = author.run("tool", "register", "--from-meta", meta_file(definition), "--dry-run")
    assert result.code == 0
    assert "Add a title or a description to a, b, ok.total" in result.stderr
