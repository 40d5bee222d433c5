import pytest

from nexus_tools.bridges.sandbox.watch import confine


def test_show_json_has_schemas(home, nora):
    [tool] = home.json("bridge", "show", nora, "--domain", "org.example.words")["tools"]
    assert (tool["fqn"], tool["system"]) == ("org.example.words.word_count@1", "nora")
    assert tool["input_schema"]["properties"].keys() == {"text", "word"}
    assert tool["output_schema"]["oneOf"]


def test_show_prints_ports_and_variants(home, nora):
    shown = home.run("bridge", "show", nora, "--tool-version", 3)
    assert shown.code == 0
    assert "local.nora.word_count@3" in shown.stdout
    assert "text: string, word?: string" in shown.stdout
    assert "reason: string" in shown.stdout


def test_schemas_option_prints_schemas(home, nora):
    shown = home.run("bridge", "show", nora, "--schemas")
    assert '"additionalProperties": false' in shown.stdout


def test_show_prints_refusals_with_reason(home, make_tool):
    tools = make_tool("good", "def run(params): return 'yes'")
    make_tool("shell", "def run(params): return 'no'")
    document = home.json("bridge", "show", tools)
    assert [tool["fqn"] for tool in document["tools"]] == ["local.nora.good@1"]
    [refusal] = document["rejected"]
    assert "arbitrary commands" in refusal["reason"]
    assert "--allow-dangerous" in refusal["hint"]


def test_allow_dangerous_includes_dangerous_tools(home, make_tool):
    tools = make_tool("shell", "def run(params): return 'no'")
    assert home.fails("bridge", "show", tools) == (7, "no_tools")
    assert home.json("bridge", "show", tools, "--allow-dangerous")["rejected"] == []


def test_show_lists_available_tools_when_no_tool_matches(home, nora):
    result = home.run("bridge", "show", nora, "--only", "nonsense", "--json")
    assert (result.code, result.error["code"]) == (2, "no_tools")
    assert "local.nora.word_count@1" in result.error["hint"]


def test_empty_folder_has_no_tools(home, tmp_path):
    assert home.fails("bridge", "show", tmp_path) == (3, "tool_not_recognised")


def test_system_option_limits_discovery(home, nora):
    assert home.fails("bridge", "show", nora, "--system", "mcp") == (3, "tool_not_recognised")


def test_duplicate_names_are_refused(home, nora):
    code, error = home.fails("bridge", "show", nora, nora)
    assert (code, error) == (7, "no_tools")


def test_invalid_domain_is_an_error(home, nora):
    shown = home.run("bridge", "show", nora, "--domain", "Wrong", "--json")
    assert shown.code == 7
    assert "Traceback" not in shown.stderr


def test_invalid_settings_file_names_location(home, nora, tmp_path):
    (tmp_path / "settings.toml").write_text("[provider.github]")
    result = home.run("bridge", "show", nora, "--hyperpocket", tmp_path / "settings.toml", "--json")
    assert (result.code, result.error["code"]) == (2, "hyperpocket_settings_invalid")
    assert "'provider'" in result.error["message"]


def test_show_lists_requested_variables(home, tmp_path):
    place = tmp_path / "translate"
    (place / "config").mkdir(parents=True)
    (place / "main.py").write_text("")
    for name, document in {
        "properties": '{"function_name": "translate", "description": "Translates."}',
        "spec": '{"type": "object"}',
        "runtime_variables": '{"required": ["TRANSLATE_KEY"], "properties": {}}',
    }.items():
        (place / "config" / f"{name}.json").write_text(document)
    [tool] = home.json("bridge", "show", place, TRANSLATE_KEY="s3cr3t")["tools"]
    assert tool["variables"] == ["TRANSLATE_KEY"]
    shown = home.run("bridge", "show", place, TRANSLATE_KEY="s3cr3t").stdout
    assert "TRANSLATE_KEY" in shown
    assert "s3cr3t" not in shown


def test_show_filters_tools_by_pattern(home, make_tool):
    tools = make_tool("read_file", "")
    make_tool("read_folder", "")
    make_tool("write_file", "")
    shown = home.json("bridge", "show", tools, "--only", "read_*", "--exclude", "*.read_folder@1")
    assert [tool["fqn"] for tool in shown["tools"]] == ["local.nora.read_file@1"]


def test_show_leaves_out_refusals_when_only_names_others(home, make_tool):
    tools = make_tool("read_file", "")
    make_tool("run_shell", "")
    shown = home.run("bridge", "show", tools, "--only", "read_*")
    assert "rejected" not in shown.stderr
    assert "run_shell is rejected" in " ".join(home.run("bridge", "show", tools).stderr.split())
    alone = home.run("bridge", "show", tools, "--only", "run_*", "--json")
    assert [each["source"] for each in alone.document["rejected"]] == [str(tools / "run_shell")]


def test_tool_may_only_access_its_folder(home, make_tool, may_mount):
    tools = make_tool("reader", "def run(params): return 'yes'")
    [tool] = home.json("bridge", "show", tools)["tools"]
    assert tool["permissions"] == {
        "confined": True,
        "reads": [str(tools / "reader")],
        "writes": [],
        "workspace": None,
        "ports": [],
        "changes_modes": not may_mount(),
    }
    shown = home.run("bridge", "show", tools).stdout
    left = "" if may_mount() else ", change modes, owners and times of your files"
    assert f"access       read {tools / 'reader'}{left}\n" in shown


def test_show_prints_permissions(home, make_tool, tmp_path, may_mount):
    tools = make_tool("reader", "def run(params): return 'yes'")
    for name in ("texts", "work", "made"):
        (tmp_path / name).mkdir()
    opened = [
        "--allow-read",
        tmp_path / "texts",
        "--allow-write",
        tmp_path / "made",
        "--allow-port",
        443,
    ]
    opened += ["--workspace", tmp_path / "work"]

    [tool] = home.json("bridge", "show", tools, *opened)["tools"]

    assert tool["permissions"] == {
        "confined": True,
        "reads": [str(tmp_path / "texts"), str(tools / "reader")],
        "writes": [str(tmp_path / "made"), str(tmp_path / "work")],
        "workspace": str(tmp_path / "work"),
        "ports": [53, 443],
        "changes_modes": not may_mount(),
    }
    shown = home.run("bridge", "show", tools, *opened).stdout
    assert f"change {tmp_path / 'work'}, connect to port 53, connect to port 443" in shown


def test_show_marks_unconfined_tool(home, make_tool):
    tools = make_tool("reader", "def run(params): return 'yes'")
    [tool] = home.json("bridge", "show", tools, "--no-confinement")["tools"]
    assert tool["permissions"]["confined"] is False
    shown = home.run("bridge", "show", tools, "--no-confinement").stdout
    assert "access       everything that you can access (no sandbox)" in shown


def test_folder_with_keys_is_rejected(home, make_tool):
    tools = make_tool("reader", "def run(params): return 'yes'")
    home.data.mkdir(parents=True)
    for option in ("--allow-read", "--allow-write", "--workspace"):
        assert home.fails("bridge", "show", tools, option, home.data) == (2, "keys_exposed")


def test_tools_are_refused_without_sandbox_support(home, make_tool, monkeypatch):
    monkeypatch.setattr(confine, "is_supported", lambda: False)
    tools = make_tool("reader", "def run(params): return 'yes'")
    assert home.fails("bridge", "show", tools) == (2, "confinement_unavailable")
    assert home.json("bridge", "show", tools, "--no-confinement")["rejected"] == []


@pytest.mark.parametrize("name", ["NEXUS_TOOLS_PASSPHRASE", "NEXUS_TOOLS_SECRET"])
def test_wallet_variables_cannot_be_shared(home, make_tool, name):
    tools = make_tool("reader", "def run(params): return 'yes'")
    shared = ("--allow-env", "HOME", "--allow-env", name)
    assert home.fails("bridge", "show", tools, *shared) == (2, "keys_exposed")
