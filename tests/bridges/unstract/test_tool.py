import asyncio
import json
import os
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from nexus_tools.bridges.sandbox import Confinement
from nexus_tools.errors import ValidationError
from nexus_tools.tool_server import NotReadyError

FILE = {"name": "in.txt", "text": "hello"}
AT = "2024-01-01T00:00:00"


def sh(*lines):
    return "\n".join(["#!/bin/sh", *lines, ""])


def echo_message(**message):
    """Return a line of a shell script that writes a message."""
    return f"cat <<'END'\n{json.dumps(message)}\nEND"


def result(output, **more):
    return echo_message(type="RESULT", result={"output": output, **more})


# Writes a RESULT whose output is the standard input as a JSON string.
QUOTING = r"""quote() { awk 'BEGIN { ORS = "" } { gsub(/["\\]/, "\\\\&"); print $0 "\\n" }'; }
tell() { printf '{"type": "RESULT", "result": {"output": "%s"}}\n' "$(quote)"; }"""


def sdk(**more):
    """Return properties in the SDK's spelling."""
    return {"functionName": "sort_file", "displayName": "Sorter", "toolVersion": "0.1.0", **more}


async def ports_of(tool, *, variant="ok", **ports):
    outcome = await tool.invoke({"file": FILE, **ports})
    assert outcome.variant == variant, outcome.ports
    return outcome.ports


async def test_result_is_the_output(serve):
    program = sh(result({"bin": "a"}, workflow_id="w", elapsed_time=1.5))
    ports = await ports_of(await serve(program))
    assert ports == {
        "output": {"bin": "a"},
        "files": [],
        "elapsed_time": 1.5,
        "workflow_id": "w",
        "costs": [],
        "messages": [],
        "updates": [],
    }


async def test_logs_are_in_the_outcome_only_with_a_log_level(serve):
    program = sh(echo_message(type="LOG", level="FATAL", log="secret"), result("x"))
    assert "logs" not in await ports_of(await serve(program))


async def test_other_messages_are_in_the_outcome(serve):
    program = sh(
        echo_message(type="LOG", level="WARN", log="slow", stage="TOOL_RUN", emitted_at=AT),
        echo_message(type="COST", cost=0.25, cost_units="USD", emitted_at=AT),
        echo_message(type="SINGLE_STEP_MESSAGE", message="look", emitted_at=AT),
        echo_message(type="UPDATE", state="INPUT_UPDATE", message="new", emitted_at=AT),
        result("x"),
    )
    ports = await ports_of(await serve(program, options={"log_level": "INFO"}))
    log = {"level": "WARN", "log": "slow", "stage": "TOOL_RUN", "emitted_at": AT}
    assert ports["logs"] == [log]
    assert ports["costs"] == [{"cost": 0.25, "cost_units": "USD", "emitted_at": AT}]
    assert ports["messages"] == [{"message": "look", "emitted_at": AT}]
    update = {"state": "INPUT_UPDATE", "message": "new", "emitted_at": AT}
    assert ports["updates"] == [update]


async def test_tool_messages_are_in_the_server_log(serve):
    program = sh(
        echo_message(type="LOG", level="ERROR", log="bad"),
        echo_message(type="COST", cost=2, cost_units="tokens"),
        echo_message(type="UPDATE", state="s", message="shown"),
        echo_message(type="SINGLE_STEP_MESSAGE", message="step"),
        result("private output"),
    )
    tool = await serve(program)
    with capture_logs() as lines:
        await ports_of(tool)
    entries = {line["event"]: line for line in lines}
    assert all(line["tool"] == str(tool.fqn) for line in lines)
    assert (entries["tool_log"]["log_level"], entries["tool_log"]["log"]) == ("error", "bad")
    assert (entries["tool_cost"]["cost"], entries["tool_cost"]["cost_units"]) == (2.0, "tokens")
    assert entries["tool_update"]["message"] == "shown"
    assert entries["tool_message"]["message"] == "step"
    assert "private output" not in repr(lines)


async def test_command_line_is_that_of_the_platform(serve):
    tool = await serve(sh(QUOTING, r'printf "%s\n" "$@" | tell'), options={"log_level": "DEBUG"})
    ports = await ports_of(tool, settings={"a": "it's 1"})
    command, run, settings, document, *rest = ports["output"].splitlines()
    assert [command, run, settings] == ["--command", "RUN", "--settings"]
    assert json.loads(document) == {"a": "it's 1"}
    assert rest == ["--log-level", "DEBUG"]


async def test_settings_have_their_defaults(serve):
    spec = {"required": ["useCache"], "properties": {"useCache": {"default": True}}}
    tool = await serve(sh(QUOTING, 'echo "$4" | tell'), config={"spec.json": spec})
    assert json.loads((await ports_of(tool))["output"]) == {"useCache": True}


async def test_data_directory_has_the_expected_layout(serve):
    program = sh(
        QUOTING,
        'cd "$TOOL_DATA_DIR" || exit 1',
        "(ls; cat INFILE SOURCE; echo; cat METADATA.json) | tell",
    )
    ports = await ports_of(await serve(program), metadata={"workflow_id": "w-1", "tags": ["t"]})
    *listing, contents, metadata = ports["output"].splitlines()
    assert listing == ["COPY_TO_FOLDER", "INFILE", "METADATA.json", "SOURCE"]
    assert contents == "hellohello"
    document = json.loads(metadata)
    assert document["source_name"] == "in.txt"
    assert document["workflow_id"] == "w-1"
    assert document["tags"] == ["t"]
    assert document["execution_id"]


async def test_output_files_are_returned(serve):
    program = sh(
        'mkdir "$TOOL_DATA_DIR/COPY_TO_FOLDER/bin"',
        'cp "$TOOL_DATA_DIR/INFILE" "$TOOL_DATA_DIR/COPY_TO_FOLDER/bin/in.txt"',
        result("done"),
    )
    assert (await ports_of(await serve(program)))["files"] == [
        {"path": "bin/in.txt", "text": "hello"}
    ]


@pytest.mark.parametrize("storage", ["auto", "local"])
async def test_both_variables_name_the_data_directory(serve, storage):
    program = sh(QUOTING, 'cat "$TOOL_DATA_DIR/INFILE" "$EXECUTION_DATA_DIR/INFILE" | tell')
    tool = await serve(program, options={"storage": storage})
    assert (await ports_of(tool))["output"] == "hellohello\n"


S3_TOOL = """
import json, os
import s3fs

storage = json.loads(os.environ["WORKFLOW_EXECUTION_FILE_STORAGE_CREDENTIALS"])
assert storage["provider"] == "minio"
files = s3fs.S3FileSystem(**storage["credentials"])
data = os.environ["EXECUTION_DATA_DIR"]
metadata = json.loads(files.read_bytes(f"{data}/METADATA.json"))
text = files.read_text(f"{data}/INFILE")
files.write_text(f"{data}/COPY_TO_FOLDER/bin/{metadata['source_name']}", text.upper())
print(json.dumps({"type": "RESULT", "result": {"output": os.environ.get("TOOL_DATA_DIR", "")}}))
"""


async def test_tool_that_requires_s3_finds_its_data(serve):
    options = {"storage": "s3"}
    tool = await serve(S3_TOOL, name="main.py", properties=sdk(), options=options)
    ports = await ports_of(tool)
    assert ports["output"] == ""
    assert ports["files"] == [{"path": "bin/in.txt", "text": "HELLO"}]


async def test_tool_without_a_file_has_no_infile(serve, properties):
    properties["requires"]["files"]["input"] = False
    program = sh(QUOTING, 'ls "$TOOL_DATA_DIR" | tell')
    outcome = await (await serve(program, properties=properties)).invoke({})
    assert outcome.ports["output"] == "COPY_TO_FOLDER\nMETADATA.json\n"


async def test_parameters_are_a_json_object_on_standard_input(serve, properties):
    properties["parameters"] = [
        {"name": "input_file", "type": "string", "description": "File path of the input file"},
        {"name": "toLanguage", "type": "string", "description": "Language"},
    ]
    tool = await serve(sh(QUOTING, "cat | tell"), properties=properties)
    ports = await ports_of(tool, to_language="fr")
    parameters = json.loads(ports["output"])
    assert parameters.pop("input_file").endswith("/INFILE")
    assert parameters == {"toLanguage": "fr"}


async def test_parameters_are_also_arguments_on_request(serve, properties):
    properties["parameters"] = [{"name": "pages", "type": "number"}]
    options = {"params_argument": True}
    program = sh(QUOTING, r'shift 6; printf "%s\n" "$@" | tell')
    tool = await serve(program, properties=properties, options=options)
    ports = await ports_of(tool, pages=2, metadata={"workflow_id": "w-1"})
    assert ports["output"].splitlines() == ["--params", '{"pages": 2}', "--workflow-id", "w-1"]


async def test_tool_has_only_its_own_environment(serve, make_host):
    schemas = {"DECLARED": {"type": "string"}, "PRIVATE": {}, "NEXUS_TOOLS_PASSPHRASE": {}}
    variables = {"properties": schemas}
    private = {"PRIVATE": "c", "NEXUS_TOOLS_PASSPHRASE": "f"}
    tool = await serve(
        sh(QUOTING, "env | tell"),
        host=make_host(
            shared=("SHARED", "DECLARED"), DECLARED="a", SHARED="b", X2TEXT_HOST="e", **private
        ),
        config={"runtime_variables.json": variables},
        options={"variables": {"CHOSEN": "d"}},
    )
    lines = (await ports_of(tool))["output"].splitlines()
    environment = dict(line.split("=", 1) for line in lines if "=" in line)
    assert environment["DECLARED"] == "a"
    assert environment["SHARED"] == "b"
    assert environment["CHOSEN"] == "d"
    assert environment["X2TEXT_HOST"] == "e"
    assert not private.keys() & environment.keys()
    assert environment["EXECUTION_BY_TOOL"] == "True"


async def test_health_is_bad_and_nothing_runs_when_a_variable_is_missing(serve, make_host):
    config = {"runtime_variables.json": {"required": ["KEY"], "properties": {"KEY": {}}}}
    tool = await serve(sh(result("ran")), config=config)
    assert await tool.check_health() == {"KEY": False, "program": True}
    with pytest.raises(NotReadyError, match="KEY"):
        await tool.invoke({"file": FILE})


async def test_variable_values_are_redacted_in_tool_logs(serve, make_host):
    program = sh(
        """printf '{"type": "LOG", "level": "INFO", "log": "key is %s"}\\n' "$KEY" """,
        'echo "$KEY" >&2; exit 1',
    )
    config = {"runtime_variables.json": {"required": ["KEY"]}}
    tool = await serve(
        program,
        host=make_host(shared=("KEY",), KEY="sk-12345"),
        config=config,
        options={"log_level": "INFO"},
    )
    with capture_logs() as lines:
        ports = await ports_of(tool, variant="err")
    assert ports["logs"] == [{"level": "INFO", "log": "key is [redacted]"}]
    assert "sk-12345" not in repr((ports, lines))


async def test_secret_settings_are_redacted_in_tool_logs(serve):
    echo = r"""printf '{"type": "LOG", "log": "with %s"}\n' "$(echo "$4" | tr -d '{}"')" """
    program = sh(echo, result("x"))
    config = {"spec.json": {"properties": {"apiKey": {}}}}
    tool = await serve(program, config=config, options={"log_level": "INFO"})
    with capture_logs() as lines:
        ports = await ports_of(tool, settings={"apiKey": "sk-12345"})
    assert ports["logs"] == [{"level": "INFO", "log": "with apiKey:[redacted]"}]
    assert "sk-12345" not in repr(lines)


async def test_each_run_has_its_own_copy_of_the_tool(serve, tmp_path):
    program = sh("ls -A > listing; touch mine", QUOTING, "cat listing | tell")
    tool = await serve(program, within="src", config={"helper.txt": "x"})
    (tmp_path / "tool" / "src" / ".env").write_text("KEY=secret")
    for _ in range(2):
        assert (await ports_of(tool))["output"].splitlines() == [
            *(".env", "config", "execution-data", "listing", "main.sh"),
        ]
    assert not (tmp_path / "tool" / "src" / "mine").exists()


async def test_environment_file_is_empty(serve, tmp_path):
    tool = await serve(sh(QUOTING, "cat .env | tell"))
    (tmp_path / "tool" / ".env").write_text("KEY=secret")
    assert (await ports_of(tool))["output"] == ""


async def test_run_leaves_nothing(serve, tmp_path):
    await ports_of(await serve(sh(result("x"))))
    assert list((tmp_path / "scratch").iterdir()) == []


async def test_cancelled_run_leaves_nothing(serve, make_host, tmp_path):
    pipe = tmp_path / "opened" / "pipe"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    host = replace(make_host(), confinement=Confinement(writes=(pipe.parent,)))
    tool = await serve(sh(f"echo begun > {pipe}", "exec sleep 600"), host=host)
    running = asyncio.ensure_future(tool.invoke({"file": FILE}))
    assert await asyncio.to_thread(pipe.read_text) == "begun\n"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert list((tmp_path / "scratch").iterdir()) == []


async def test_python_program_finds_its_own_modules(serve, tmp_path):
    program = "import json, helper\nprint(json.dumps(helper.MESSAGE))\n"
    tool = await serve(program, name="main.py", properties=sdk())
    message = {"type": "RESULT", "result": {"output": "from a module"}}
    (tmp_path / "tool" / "helper.py").write_text(f"MESSAGE = {message!r}\n")
    assert (await ports_of(tool))["output"] == "from a module"


async def test_exit_code_is_an_error_with_any_output(serve):
    ports = await ports_of(await serve(sh(result("x"), "exit 3")), variant="err")
    assert ports["exit_code"] == 3
    assert ports["reason"] == "the tool exited with code 3"


async def test_exception_is_reported_with_class_and_text(serve):
    tool = await serve("{}['extractorId']\n", name="main.py", properties=sdk())
    ports = await ports_of(tool, variant="err")
    assert ports["type"] == "KeyError"
    assert ports["reason"] == "the tool failed: KeyError: 'extractorId'"
    assert "Traceback" in ports["log"]


async def test_failing_import_is_reported(serve):
    tool = await serve("import no_such_module\n", name="main.py", properties=sdk())
    ports = await ports_of(tool, variant="err")
    assert ports["type"] == "ModuleNotFoundError"
    assert "no_such_module" in ports["reason"]


@pytest.mark.parametrize(("strict", "variant"), [(False, "ok"), (True, "err")])
async def test_logged_errors_fail_a_run_only_on_request(serve, strict, variant):
    program = sh(echo_message(type="LOG", level="ERROR", log="no page usage"), result("x"))
    tool = await serve(program, options={"strict_error_logs": strict, "log_level": "INFO"})
    ports = await ports_of(tool, variant=variant)
    assert ports["logs"] == [{"level": "ERROR", "log": "no page usage"}]


async def test_run_without_a_result_is_an_error(serve):
    ports = await ports_of(await serve(sh("echo hello")), variant="err")
    assert ports["reason"] == "the tool ended without a RESULT"
    assert ports["log"] == "hello"
    assert "exit_code" not in ports


async def test_other_output_around_messages_is_harmless(serve):
    program = sh(
        "head -c 100000 /dev/urandom",
        "echo; echo '{'; echo '{\"type\": 7}'; echo NaN",
        result("x"),
        r"printf '\377\000\n{\"type\": \"LOG\"'",
    )
    assert (await ports_of(await serve(program)))["output"] == "x"


async def test_slow_tool_is_stopped(serve, make_host):
    program = sh(echo_message(type="LOG", level="INFO", log="begun"), "sleep 600")
    host = make_host(timeout_ms=1_000)
    tool = await serve(program, host=host, options={"log_level": "INFO"})
    ports = await ports_of(tool, variant="err")
    assert ports["limit"] == "time"
    assert ports["logs"] == [{"level": "INFO", "log": "begun"}]


async def test_too_many_files_are_an_error(serve):
    program = sh('head -c 5000000 /dev/zero > "$TOOL_DATA_DIR/COPY_TO_FOLDER/large"', result("x"))
    ports = await ports_of(await serve(program), variant="err")
    assert "bytes" in ports["reason"]


async def test_link_to_a_host_file_is_not_returned(serve):
    program = sh('ln -s /etc/passwd "$TOOL_DATA_DIR/COPY_TO_FOLDER/x"', result("x"))
    assert (await ports_of(await serve(program)))["files"] == []


async def test_declared_text_is_text(serve):
    properties = sdk(result={"type": "TXT"})
    assert (await ports_of(await serve(sh(result("a")), properties=properties)))["output"] == "a"


async def test_json_declared_as_text_is_an_error(serve):
    tool = await serve(sh(result({"a": 1})), properties=sdk(result={"type": "TXT"}))
    ports = await ports_of(tool, variant="err")
    assert "output of the tool is not valid" in ports["reason"]


SCHEMA = {
    "type": "object",
    "properties": {"bin": {"$ref": "#/$defs/bin"}},
    "required": ["bin"],
    "$defs": {"bin": {"enum": ["a", "b"]}},
}


@pytest.mark.parametrize("output", [{"bin": "a"}, '{"bin": "a"}'])
async def test_result_with_a_schema_is_json_or_a_json_string(serve, output):
    properties = sdk(result={"type": "JSON", "schema": SCHEMA})
    tool = await serve(sh(result(output)), properties=properties)
    assert (await ports_of(tool))["output"] == {"bin": "a"}


async def test_result_that_violates_its_own_schema_is_an_error(serve):
    properties = sdk(result={"type": "JSON", "schema": SCHEMA})
    tool = await serve(sh(result({"bin": "c"})), properties=properties)
    assert "output of the tool is not valid" in (await ports_of(tool, variant="err"))["reason"]


@pytest.mark.parametrize("output", [None, 1, [], {"a": {}}, "[1", "text"])
async def test_json_without_a_schema_is_any_json(serve, output):
    tool = await serve(sh(result(output)), properties=sdk(result={"type": "JSON"}))
    assert (await ports_of(tool))["output"] == output


async def test_invalid_input_is_reported_before_anything_runs(serve, tmp_path):
    properties = sdk(restrictions={"allowedFileTypes": ["pdf"]})
    tool = await serve(sh(f"touch {tmp_path}/ran"), properties=properties)
    for ports in ({}, {"file": {"name": "a.txt", "text": ""}}, {"file": FILE, "settings": 1}):
        with pytest.raises(ValidationError) as caught:
            await tool.invoke(ports)
        assert caught.value.code == "input_invalid"
        assert caught.value.details["failures"]
    assert not (tmp_path / "ran").exists()


async def test_files_of_four_megabytes_are_returned(serve):
    size = 4 * 2**20
    program = sh(
        f'head -c {size} /dev/zero | tr "\\000" x > "$TOOL_DATA_DIR/COPY_TO_FOLDER/large"',
        result("x"),
    )
    [file] = (await ports_of(await serve(program)))["files"]
    assert file["text"] == "x" * size


async def test_long_output_is_returned_and_a_longer_one_is_an_error(serve):
    program = """import json, sys
settings = json.loads(sys.argv[4])
print(json.dumps({"type": "RESULT", "result": {"output": "x" * settings["size"]}}))
"""
    tool = await serve(program, name="main.py", properties=sdk())
    assert len((await ports_of(tool, settings={"size": 3_000_000}))["output"]) == 3_000_000
    ports = await ports_of(tool, variant="err", settings={"size": 4_000_000})
    assert "a line is longer" in ports["reason"]


async def test_endless_logs_do_not_flood_the_server_log(serve):
    program = sh(
        """yes '{"type": "LOG", "level": "INFO", "log": "again"}' | head -n 1500""", result("x")
    )
    tool = await serve(program, options={"log_level": "INFO"})
    with capture_logs() as lines:
        ports = await ports_of(tool)
    assert len(ports["logs"]) == 100
    assert len(lines) == 1_001
    assert lines[-1]["event"] == "tool_log_truncated"
