import httpx
import pytest

PRINTS_ALL = """
import os, pathlib

def run(params):
    try:
        parent = pathlib.Path(f"/proc/{os.getppid()}/environ").read_bytes().decode()
    except PermissionError as error:
        parent = str(error)
    return "\\n".join([*(f"{k}={v}" for k, v in os.environ.items()), parent])
"""
SLEEPS = "import threading\ndef run(params): threading.Event().wait()"


def invoke(url, **ports):
    return httpx.post(f"{url}/invoke", json=ports, timeout=30)


def test_served_tool_passes_validation(home, nora, serve_bridge):
    url, _ = serve_bridge(nora)
    assert invoke(url, text="one two one", word="one").json() == {"ok": {"result": "2"}}
    checks = home.json("tool", "validate", url)["checks"]
    assert not [check for check in checks if check["status"] == "failed"]


def test_invalid_input_is_rejected_before_tool_runs(nora, serve_bridge):
    url, _ = serve_bridge(nora)
    answer = invoke(url, word=1)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]]


def test_tool_environment_has_no_operator_secrets(make_tool, serve_bridge):
    tools = make_tool("reveal", PRINTS_ALL)
    secrets = {"AWS_SECRET_ACCESS_KEY": "s3cr3t-aws", "NEXUS_TOOLS_WALLET": "s3cr3t-wallet"}
    url, _ = serve_bridge(tools, "--allow-env", "HARMLESS", HARMLESS="shown", **secrets)
    printed = invoke(url).json()["ok"]["result"]
    assert "HARMLESS=shown" in printed
    assert "s3cr3t" not in printed


def test_server_survives_tool_timeout(make_tool, serve_bridge):
    url, _ = serve_bridge(make_tool("sleeper", SLEEPS), "--timeout", "1s")
    outcome = invoke(url).json()
    assert outcome["err"]["limit"] == "time"
    assert httpx.get(f"{url}/health").status_code == 200


def test_meta_prints_definitions(home, nora):
    import json

    printed = home.run(
        "bridge", "serve", nora, "--meta", "--public-url", "https://tools.example.org"
    )
    [definition] = json.loads(printed.stdout)
    assert definition["url"] == "https://tools.example.org/local.nora.word_count@1"


def test_server_stops_on_ctrl_c(nora, serve_bridge):
    _, daemon = serve_bridge(nora)
    ended = daemon.end(2)
    assert ended.code == 0
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("bind", ["nonsense", "127.0.0.1:99999"])
def test_invalid_address_is_usage_error(home, nora, bind):
    assert home.fails("bridge", "serve", nora, "--bind", bind) == (2, "address_invalid")


def test_serve_filters_tools_by_pattern(make_tool, serve_bridge):
    make_tool("first", "")
    url, _ = serve_bridge(make_tool("second", ""), "--only", "f*")
    assert httpx.get(f"{url}/tools").json() == ["/local.nora.first@1"]
