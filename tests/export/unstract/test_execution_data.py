"""The files of an execution on disk and in S3, as on the platform."""

import json
from functools import partial

import anyio
import pytest

from nexus_tools.bridges.unstract.object_store import object_store

METADATA = {
    "source_name": "invoice.pdf",
    "workflow_id": "the-workflow",
    "total_elapsed_time": 1.5,
    "tool_metadata": [{"tool_name": "before", "elapsed_time": 1.5, "output_type": "TXT"}],
}
OUTPUT = {"ok": {"result": 3}}

storage_at = partial(object_store, max_bytes=2**20, max_files=100)


@pytest.fixture
def data(tmp_path):
    directory = tmp_path / "root" / "bucket" / "organization" / "run"
    directory.mkdir(parents=True)
    (directory / "METADATA.json").write_text(json.dumps(METADATA))
    (directory / "INFILE").write_bytes(b"%PDF")
    (directory / "SOURCE").write_bytes(b"%PDF")
    return directory


def assert_is_written(data, elapsed_s):
    assert json.loads((data / "INFILE").read_text()) == OUTPUT
    assert json.loads((data / "COPY_TO_FOLDER" / "invoice.json").read_text()) == OUTPUT
    assert (data / "SOURCE").read_bytes() == b"%PDF"
    metadata = json.loads((data / "METADATA.json").read_text())
    assert metadata["source_name"] == "invoice.pdf"
    assert metadata["total_elapsed_time"] == pytest.approx(1.5 + elapsed_s)
    assert metadata["tool_metadata"] == [
        METADATA["tool_metadata"][0],
        {
            "tool_name": "xyz_example_math_add_v2",
            "elapsed_time": elapsed_s,
            "output_type": "JSON",
        },
    ]


@pytest.mark.parametrize("variable", ["TOOL_DATA_DIR", "EXECUTION_DATA_DIR"])
def test_local_directory_gets_the_output(exported_tool, data, variable):
    code, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, environment={variable: str(data)})
    result = messages[-1]["result"]
    assert (code, result["workflow_id"]) == (0, "the-workflow")
    assert_is_written(data, result["elapsed_time"])


def test_directory_without_metadata_gets_metadata(exported_tool, tmp_path):
    exported_tool("RUN", {"a": 1, "b": 2}, environment={"TOOL_DATA_DIR": str(tmp_path)})
    assert json.loads((tmp_path / "COPY_TO_FOLDER" / "result.json").read_text()) == OUTPUT
    metadata = json.loads((tmp_path / "METADATA.json").read_text())
    assert [entry["tool_name"] for entry in metadata["tool_metadata"]] == [
        "xyz_example_math_add_v2"
    ]


def test_source_name_does_not_lead_to_another_folder(exported_tool, data):
    metadata = METADATA | {"source_name": "../../elsewhere/..\\invoice.pdf"}
    (data / "METADATA.json").write_text(json.dumps(metadata))
    exported_tool("RUN", {"a": 1, "b": 2}, environment={"TOOL_DATA_DIR": str(data)})
    assert [path.name for path in (data / "COPY_TO_FOLDER").iterdir()] == ["invoice.json"]


def test_failed_run_keeps_the_files(exported_tool, data):
    exported_tool("RUN", {"a": 900, "b": 200}, environment={"TOOL_DATA_DIR": str(data)})
    assert (data / "INFILE").read_bytes() == b"%PDF"
    assert json.loads((data / "METADATA.json").read_text()) == METADATA
    assert not (data / "COPY_TO_FOLDER").exists()


def test_non_json_metadata_ends_the_run(exported_tool, data):
    (data / "METADATA.json").write_text("{")
    code, messages, _ = exported_tool(
        "RUN", {"a": 1, "b": 2}, environment={"TOOL_DATA_DIR": str(data)}
    )
    assert code == 1
    assert "METADATA.json is not JSON" in messages[0]["log"]


def in_storage(store, **changed):
    credentials = {
        "endpoint_url": store.endpoint_url,
        "key": store.access_key,
        "secret": "the-secret",
    }
    document = {"provider": "minio", "credentials": credentials | changed}
    return {
        "EXECUTION_DATA_DIR": "bucket/organization/run",
        "WORKFLOW_EXECUTION_FILE_STORAGE_CREDENTIALS": json.dumps(document),
    }


async def run(exported_tool, environment):
    call = partial(exported_tool, "RUN", {"a": 1, "b": 2}, environment=environment)
    return await anyio.to_thread.run_sync(call)


async def test_bucket_gets_the_output(exported_tool, data, tmp_path):
    async with storage_at(tmp_path / "root") as store:
        code, messages, _ = await run(exported_tool, in_storage(store))
    result = messages[-1]["result"]
    assert (code, result["workflow_id"]) == (0, "the-workflow")
    assert_is_written(data, result["elapsed_time"])


async def test_key_with_odd_characters_is_signed_as_s3_requires(exported_tool, data, tmp_path):
    metadata = METADATA | {"source_name": "a b+c&d=é~.pdf"}
    (data / "METADATA.json").write_text(json.dumps(metadata))
    async with storage_at(tmp_path / "root") as store:
        await run(exported_tool, in_storage(store))
    assert [path.name for path in (data / "COPY_TO_FOLDER").iterdir()] == ["a b+c&d=é~.json"]


async def test_wrong_keys_end_the_run_and_are_not_repeated(exported_tool, data, tmp_path):
    async with storage_at(tmp_path / "root") as store:
        code, messages, output = await run(exported_tool, in_storage(store, key="not-the-key"))
    assert code == 1
    assert "HTTP 403" in messages[0]["log"]
    assert "the-secret" not in json.dumps(messages) + output


def test_unreadable_credentials_end_the_run_and_are_not_repeated(exported_tool):
    environment = {
        "EXECUTION_DATA_DIR": "bucket/run",
        "WORKFLOW_EXECUTION_FILE_STORAGE_CREDENTIALS": '{"provider": "minio", "secret"',
    }
    code, messages, output = exported_tool("RUN", {"a": 1, "b": 2}, environment=environment)
    assert code == 1
    assert "WORKFLOW_EXECUTION_FILE_STORAGE_CREDENTIALS" in messages[0]["log"]
    assert '"secret"' not in messages[0]["log"] + output


def test_local_storage_is_a_directory(exported_tool, data):
    environment = {
        "EXECUTION_DATA_DIR": str(data),
        "WORKFLOW_EXECUTION_FILE_STORAGE_CREDENTIALS": '{"provider": "local", "credentials": {}}',
    }
    _, messages, _ = exported_tool("RUN", {"a": 1, "b": 2}, environment=environment)
    assert_is_written(data, messages[-1]["result"]["elapsed_time"])
