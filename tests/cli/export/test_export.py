import json

import pytest

from nexus_tools.export import FORMATS

ADD = "xyz.test.math.add@1"
NAME = "xyz_test_math_add_v1"


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, tmp_path_factory):
    """Return the owner of two active tools and one that is unregistered."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 20 * 10**9)
    path = tmp_path_factory.mktemp("meta") / "meta.json"
    path.write_text(json.dumps(OFF_CHAIN))
    user.json("tool", "register", "--from-meta", path, "--skip-validation", "--yes")
    user.json("tool", "unregister", "xyz.test.old.add@1", "--yes")
    return user


@pytest.fixture
def user(home, publisher, seller):
    """Return a user without a key."""
    home.configure(**publisher.settings)
    return home


def document(fqn, **changes):
    ports = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    branch = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    return {
        "fqn": fqn,
        "url": "https://tools.example.com/add",
        "description": "Adds two integers.",
        "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "output_schema": {"type": "object", "oneOf": [branch]},
        **changes,
    }


OFF_CHAIN = [
    document(ADD),
    document("xyz.test.text.cut@1", description="Cuts a text."),
    document("xyz.test.old.add@1"),
]
FUNCTION = {"witness": "0x2::math::Add"}
ON_CHAIN = document("xyz.test.move.add@1", type="onchain", url="0x2::math::add", function=FUNCTION)


def fqns(result):
    return sorted(tool["title"] for tool in result["tools"])


# --- From the registry


def test_export_by_fqn(user):
    assert user.json("export", "--format", "openai", ADD) == [
        {
            "type": "function",
            "function": {
                "name": NAME,
                "description": "Adds two integers.",
                "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
            },
        }
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("--domain", "xyz.test.text", "--domain", "xyz.test.math"),
        ("--only", "cut", "--only", "xyz.test.math.*"),
        ("--exclude", "old"),
    ],
)
def test_repeated_option_combines_values(user, options):
    exported = user.json("export", "--format", "mcp", *options)
    assert fqns(exported) == [ADD, "xyz.test.text.cut@1"]


@pytest.mark.parametrize("option", ["--owner", "--search"])
def test_duplicate_single_option_is_rejected(user, option):
    result = user.run("export", "--format", "mcp", option, "one", option, "two")
    assert result.code == 2
    assert "at most one value" in result.stderr


def test_all_option_exports_active_tools(user):
    exported = user.json("export", "--format", "mcp", "--all")
    assert fqns(exported) == [ADD, "xyz.test.text.cut@1"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--domain", "xyz.test.math"), [ADD]),
        (("--domain", "xyz.test", "--search", "cuts"), ["xyz.test.text.cut@1"]),
        (("--search", "no such text"), []),
    ],
)
def test_export_selects_by_domain_and_text(user, options, found):
    assert fqns(user.json("export", "--format", "mcp", *options)) == found


def test_export_selects_by_owner(seller, stranger):
    address = str(seller.wallet.signer().address)
    assert len(stranger.json("export", "--format", "mcp", "--owner", address)["tools"]) == 2
    assert stranger.json("export", "--format", "mcp", "--owner", "stranger")["tools"] == []


def test_inactive_tool_is_exported_with_warning(user):
    result = user.run("export", "--format", "anthropic", "xyz.test.old.add@1")
    assert (result.code, len(result.document)) == (0, 1)
    assert "xyz.test.old.add@1 is unregistered" in result.stderr


def test_unknown_tool_is_not_found(user):
    assert user.fails("export", "--format", "openai", "xyz.test.no.add@1") == (3, "tool_unknown")


@pytest.mark.parametrize(
    "arguments", [(), (ADD, "--all"), (ADD, "--search", "x"), ("--all", "--domain", "xyz.test")]
)
def test_export_needs_a_selection(user, arguments):
    result = user.fails("export", "--format", "openai", *arguments)
    assert result == (2, "selection_ambiguous")


def test_empty_export_warns(user):
    result = user.run("export", "--format", "openai", "--only", "nonsense")
    assert (result.code, result.document) == (0, [])
    assert "no active tool matches" in result.stderr


# --- From a file, without any network


@pytest.fixture
def export_from_file(home, meta_file):
    """Exports from a file of definitions."""
    path = meta_file([*OFF_CHAIN, ON_CHAIN])
    return lambda *arguments: home.run("export", "--from-meta", path, *arguments)


@pytest.mark.parametrize("system", FORMATS)
def test_export_prints_json_in_every_format(export_from_file, system):
    result = export_from_file("--format", system)
    assert result.code == 0
    assert isinstance(result.document, list | dict)


@pytest.mark.parametrize("system", ["openapi", "unstract"])
def test_on_chain_tools_are_skipped_for_http_formats(export_from_file, system):
    result = export_from_file("--format", system, "--names", ON_CHAIN["fqn"])
    assert (result.code, result.document) == (0, {})
    assert "xyz.test.move.add@1 is skipped" in result.stderr


def test_definitions_are_read_from_stdin(home):
    stdin = json.dumps(document(ADD))
    result = home.run("export", "--from-meta", "-", "--format", "mcp", stdin=stdin)
    assert fqns(result.document) == [ADD]


def test_file_definitions_are_selected_by_fqn(export_from_file):
    assert fqns(export_from_file("--format", "mcp", ADD).document) == [ADD]
    result = export_from_file("--format", "mcp", "xyz.test.no.add@1", "--json")
    assert (result.code, result.error["code"]) == (3, "tool_unknown")


def test_names_option_prints_mapping(export_from_file):
    assert export_from_file("--format", "openai", ADD, "--names").document == {
        NAME: {
            "fqn": ADD,
            "type": "offchain",
            "url": "https://tools.example.com/add",
            "wrapped": None,
            "nulls_filled_in": False,
        }
    }


def test_strict_option_uses_strict_schemas(export_from_file):
    [tool] = export_from_file("--format", "openai-responses", "--strict", ADD).document
    assert tool["strict"] is True
    assert tool["parameters"]["required"] == ["a"]


def test_non_strict_schema_warns_with_reason(home, meta_file):
    path = meta_file(document(ADD, input_schema={"type": "object", "properties": {"a": {}}}))
    result = home.run("export", "--from-meta", path, "--format", "openai", "--strict")
    assert "strict" not in result.document[0]["function"]
    assert f"{ADD} cannot be strict: /properties/a" in result.stderr


def test_out_option_writes_file(export_from_file, tmp_path):
    result = export_from_file("--format", "openai", "--output", tmp_path / "tools.json", ADD)
    assert (result.code, result.stdout) == (0, "")
    [tool] = json.loads((tmp_path / "tools.json").read_text())
    assert tool["function"]["name"] == NAME


def test_unstract_export_writes_folders(export_from_file, tmp_path):
    result = export_from_file("--format", "unstract", "--output", tmp_path / "tools", "--json")
    assert result.code == 0, result.stderr
    assert result.document[ADD] == str(tmp_path / "tools" / NAME)
    assert sorted(folder.name for folder in (tmp_path / "tools").iterdir()) == [
        NAME,
        "xyz_test_old_add_v1",
        "xyz_test_text_cut_v1",
    ]
    assert (tmp_path / "tools" / NAME / "src" / "config" / "properties.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--format", "anthropic", "--strict"), "option_not_applicable"),
        (("--format", "openai", "--domain", "xyz.test"), "selection_ambiguous"),
        (("--format", "openai", "--output", "/no/such/folder/tools.json"), "file_unwritable"),
        (("--format", "unstract"), "out_missing"),
        (("--format", "toml"), "usage"),
    ],
)
def test_incompatible_options_are_rejected(export_from_file, arguments, code):
    result = export_from_file(*arguments, "--json")
    assert (result.code, result.error["code"]) == (2, code)
