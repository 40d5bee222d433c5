import hashlib
import json
import os

import pytest

from nexus_tools.bridges.unstract.input import InputFile
from nexus_tools.bridges.unstract.storage import (
    MAX_BYTES,
    MAX_FILES,
    DataDirectory,
    read_output_files,
)
from nexus_tools.errors import ValidationError

FILE = InputFile("in.txt", b"hello")


def metadata_of(data):
    return json.loads((data.path / "METADATA.json").read_text())


def test_input_file_is_writable_and_source_is_read_only(tmp_path):
    data = DataDirectory.create(tmp_path / "data", FILE, {})
    assert (data.path / "INFILE").read_bytes() == b"hello"
    assert (data.path / "SOURCE").read_bytes() == b"hello"
    assert (data.path / "SOURCE").stat().st_mode & 0o222 == 0


def test_output_folder_is_empty(tmp_path):
    data = DataDirectory.create(tmp_path / "data", FILE, {})
    assert list((data.path / "COPY_TO_FOLDER").iterdir()) == []


def test_metadata_has_the_source_name_and_its_hash(tmp_path):
    metadata = metadata_of(DataDirectory.create(tmp_path / "data", FILE, {"tags": ["a"]}))
    assert metadata["source_name"] == "in.txt"
    assert metadata["source_hash"] == hashlib.sha256(b"hello").hexdigest()
    assert metadata["tags"] == ["a"]


def test_missing_ids_are_generated(tmp_path):
    metadata = metadata_of(DataDirectory.create(tmp_path / "data", FILE, {"workflow_id": "w"}))
    assert metadata["workflow_id"] == "w"
    assert metadata["execution_id"] != metadata["file_execution_id"]


def test_infile_and_source_are_absent_without_a_file(tmp_path):
    data = DataDirectory.create(tmp_path / "data", None, {})
    assert not (data.path / "INFILE").exists()
    assert not (data.path / "SOURCE").exists()


def test_output_files_are_text_or_base64_by_path(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "a.txt").write_text("grüß")
    (tmp_path / "z.bin").write_bytes(b"\xff")
    (tmp_path / "nul").write_bytes(b"\0")
    assert [file.as_json() for file in read_output_files(tmp_path)] == [
        {"path": "bin/a.txt", "text": "grüß"},
        {"path": "nul", "content_base64": "AA=="},
        {"path": "z.bin", "content_base64": "/w=="},
    ]


def test_links_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("key")
    output = tmp_path / "output"
    output.mkdir()
    (output / "file").symlink_to(secret / "key")
    (output / "folder").symlink_to(secret)
    assert read_output_files(output) == []
    (tmp_path / "link").symlink_to(secret)
    assert read_output_files(tmp_path / "link") == []


def test_missing_folder_has_no_files(tmp_path):
    assert read_output_files(tmp_path / "missing") == []


def test_special_files_are_omitted(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert read_output_files(tmp_path) == []


def test_too_many_bytes_are_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * (MAX_BYTES - 1))
    (tmp_path / "b").write_bytes(b"x")
    assert len(read_output_files(tmp_path)) == 2
    (tmp_path / "b").write_bytes(b"xx")
    with pytest.raises(ValidationError, match=str(MAX_BYTES)):
        read_output_files(tmp_path)


def test_too_many_files_are_refused(tmp_path):
    for number in range(MAX_FILES):
        (tmp_path / str(number)).touch()
    assert len(read_output_files(tmp_path)) == MAX_FILES
    (tmp_path / "more").touch()
    with pytest.raises(ValidationError, match=str(MAX_FILES)):
        read_output_files(tmp_path)


def test_non_utf_8_name_is_refused(tmp_path):
    os.close(os.open(os.fsencode(tmp_path) + b"/\xff", os.O_CREAT | os.O_WRONLY))
    with pytest.raises(ValidationError, match="UTF-8"):
        read_output_files(tmp_path)
