from pathlib import Path

import anyio
import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool_server import ToolServer
from nexus_tools.tool_server.conformance import Status, check_tool
from nexus_tools.tool_server.testing import client

READER = """
def run(params):
    with open(params["path"], "r") as f:
        return f.read()
"""


def returning(expression):
    return f"def run(params):\n    return {expression}\n"


def test_specification_example_reads_a_file(tool):
    reader = tool(READER)
    path = Path(reader.source) / "hello.txt"
    path.write_text("hello world")

    outcome = anyio.run(reader.invoke, {"path": str(path)})

    assert outcome.ports == {"result": "hello world"}


def test_required_property_makes_the_port_required(tool, parameter):
    properties = {"path": parameter(), "lines": parameter("integer", required=False)}
    reader = tool(READER, parameters={"type": "object", "properties": properties})
    assert reader.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {"type": "string", "description": "a parameter"},
            "lines": {"type": "integer", "description": "a parameter"},
        },
        "required": ["path"],
    }


@pytest.mark.parametrize("ports", [{}, {"path": 1}, {"path": "x", "other": 1}])
def test_invalid_input_never_reaches_the_script(call, ports, tmp_path):
    script = f"open({str(tmp_path / 'ran')!r}, 'w')\n{READER}"
    with pytest.raises(ValidationError) as caught:
        call(script, ports)
    assert caught.value.code == "input_invalid"
    assert not (tmp_path / "ran").exists()


def test_parameter_keywords_are_enforced(call, parameter):
    properties = {"mode": parameter(enum=["r", "w"])}
    with pytest.raises(ValidationError, match="input does not match"):
        call(returning("1"), {"mode": "x"}, parameters={"properties": properties})


def test_renamed_parameter_reaches_the_script_under_its_own_name(call, parameter):
    parameters = {"properties": {"maxLines": parameter("integer")}}
    answer = call(returning("params"), {"max_lines": 3}, parameters=parameters)
    assert answer == {"ok": {"result": {"maxLines": 3}}}


def test_tool_without_parameters_gets_an_empty_dictionary(call):
    assert call(returning("params"), {}, parameters={}) == {"ok": {"result": {}}}


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("'text'", "text"),
        ("''", ""),
        ("None", None),
        ("[1, 2.5, True, {'a': None}]", [1, 2.5, True, {"a": None}]),
        ("b'bytes'", "b'bytes'"),
        ("{1, }", "{1}"),
        ("{'at': 1j}", "{'at': 1j}"),
    ],
)
def test_result_is_json_or_text(call, expression, result):
    assert call(returning(expression)) == {"ok": {"result": result}}


@pytest.mark.parametrize(
    ("expression", "word"),
    [("float('nan')", "nan"), ("[{'a': -float('inf')}]", "-inf"), ("chr(0xd800)", "surrogate")],
)
def test_non_json_number_is_an_error(call, expression, word):
    [(variant, ports)] = call(returning(expression)).items()
    assert variant == "err"
    assert word in ports["reason"]


def test_exception_is_an_error_with_its_type_and_the_log(call):
    [(variant, ports)] = call(
        "def run(params):\n    print('reading')\n    raise OSError('no disk')\n"
    ).items()
    assert variant == "err"
    assert ports["reason"] == "no disk"
    assert ports["type"] == "OSError"
    assert "reading" in ports["log"]
    assert "Traceback" not in ports["log"]


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("raise ValueError('at import')", "ValueError"),
        ("def run(params) return 1", "SyntaxError"),
        ("x = 1", "AttributeError"),
        ("def run(): pass", "TypeError"),
        ("async def run(params): return 1", "TypeError"),
        ("import sys\ndef run(params): sys.exit(3)", "SystemExit"),
        (
            "class Bad:\n    def __str__(self): 1/0\ndef run(params): return Bad()",
            "ZeroDivisionError",
        ),
    ],
)
def test_script_failure_anywhere_is_an_error(call, script, kind):
    assert call(script)["err"]["type"] == kind


def test_killed_script_is_an_error_with_the_signal(call):
    ports = call("import os, signal\ndef run(params): os.kill(os.getpid(), signal.SIGKILL)")["err"]
    assert ports["exit_code"] == -9
    assert "type" not in ports


def test_endless_script_is_stopped_with_its_processes(call, host):
    object.__setattr__(host, "timeout_ms", 1_000)
    script = "import subprocess\ndef run(params): subprocess.run(['sleep', '1000'])"
    assert call(script)["err"]["limit"] == "time"


def test_script_output_is_not_part_of_the_result(call):
    script = (
        "import os\ndef run(params):\n    print('{}')\n    os.write(1, b'x')\n    return 'done'"
    )
    assert call(script) == {"ok": {"result": "done"}}


def test_script_has_its_own_directory_and_home_and_no_secrets(call, host):
    script = "import os\ndef run(params): return [os.getcwd(), dict(os.environ), os.listdir()]"
    directory, environment, files = call(script)["ok"]["result"]
    assert directory.startswith(str(host.scratch))
    assert environment["HOME"].startswith(str(host.scratch))
    assert "SECRET" not in environment
    assert files == []
    assert not Path(directory).exists()


def test_script_can_import_neighbours_and_knows_its_path(write, discover):
    place = write(
        "import os, sys, helper\n"
        "def run(params): return [helper.VALUE, os.path.basename(__file__), __name__,\n"
        "    sys.modules[__name__].run is run]"
    )
    (place / "helper.py").write_text("VALUE = 7")
    [found] = discover(place).tools
    outcome = anyio.run(found.invoke, {"path": ""})
    assert outcome.ports["result"] == [7, "main.py", "file_reader", True]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("my tool", "my_tool"),
        ("json", "tool_json"),
        ("2fa", "tool_2fa"),
        ("__main__", "tool___main__"),
    ],
)
def test_invalid_module_name_is_changed(call, name, module):
    assert call(returning("__name__"), name=name) == {"ok": {"result": module}}


@pytest.mark.parametrize("text", ["Error: no file", "Error reading file: [Errno 2] …"])
def test_error_text_is_an_error(call, text):
    assert call(returning(repr(text))) == {"err": {"reason": text, "type": "error_pattern"}}


def test_every_text_is_a_result_without_an_error_pattern(call):
    options = {"error_pattern": None}
    assert call(returning("'Error: no file'"), options=options) == {
        "ok": {"result": "Error: no file"}
    }


@pytest.mark.parametrize(
    "expression", ["'No Error: here'", "['Error: no file']", "'x' * 4096 + '!'"]
)
def test_other_results_stay_with_an_error_pattern(call, expression):
    assert "ok" in call(returning(expression), options={"error_pattern": "^Error|!"})


async def test_health_is_bad_when_the_manifest_has_changed(write, discover):
    place = write()
    found = await anyio.to_thread.run_sync(discover, place)
    [one] = found.tools
    assert await one.check_health() == {"entrypoint": True, "manifest": True}
    (place / "tool.json").write_text("{}")
    assert await one.check_health() == {"entrypoint": True, "manifest": False}


async def test_served_tool_follows_the_protocol(tool):
    served = await anyio.to_thread.run_sync(tool, returning("params['path']"))
    async with client(ToolServer([served])) as http:
        rows = [row async for row in check_tool("http://localhost", http)]
    assert len(rows) > 8
    assert [row for row in rows if row.status is Status.FAILED] == []
