import json

import pytest

from nexus_tools.bridges.nora.manifest import Manifest
from nexus_tools.errors import ValidationError


def wrong(folder):
    """Return the messages of the invalid manifest in `folder` by pointer."""
    with pytest.raises(ValidationError) as caught:
        Manifest.read(folder)
    assert caught.value.code == "manifest_invalid"
    failures = caught.value.details["failures"]
    return {failure["pointer"]: failure["message"] for failure in failures}


def test_manifest_of_the_specification_is_read(write):
    place = write()
    manifest = Manifest.read(place)
    assert manifest.name == "file_reader"
    assert manifest.description == "Reads the content of a file."
    assert manifest.script == place / "main.py"
    assert manifest.parameters["properties"]["path"]["required"] is True


@pytest.mark.parametrize("field", ["name", "description", "entrypoint", "parameters"])
def test_manifest_without_a_required_field_is_refused(write, field):
    assert wrong(write(**{field: None})) == {"": f"'{field}' is a required property"}


@pytest.mark.parametrize("field", ["name", "description", "entrypoint"])
def test_name_description_and_entrypoint_must_be_strings(write, field):
    assert wrong(write(**{field: 7})) == {f"/{field}": "7 is not of type 'string'"}


def test_parameters_must_have_the_type_object(write):
    failures = wrong(write(parameters={"type": "array"}))
    assert failures == {"/parameters/type": "'array' is not one of ['object']"}


def test_parameters_must_be_an_object_of_objects(write):
    assert list(wrong(write(parameters=[]))) == ["/parameters"]
    assert list(wrong(write(folder="b", parameters={"properties": []}))) == [
        "/parameters/properties"
    ]
    assert list(wrong(write(folder="c", parameters={"properties": {"a": "string"}}))) == [
        "/parameters/properties/a"
    ]


@pytest.mark.parametrize("field", ["type", "description", "required"])
def test_parameter_without_a_required_field_is_refused(write, parameter, field):
    fields = parameter()
    del fields[field]
    failures = wrong(write(parameters={"properties": {"path": fields}}))
    assert failures == {"/parameters/properties/path": f"'{field}' is a required property"}


def test_required_must_be_a_boolean(write, parameter):
    failures = wrong(write(parameters={"properties": {"a": parameter(required=["a"])}}))
    assert failures == {"/parameters/properties/a/required": "['a'] is not of type 'boolean'"}


def test_each_mismatch_is_reported_with_a_hint(write):
    place = write(name=1, entrypoint=2)
    assert list(wrong(place)) == ["/name", "/entrypoint"]
    with pytest.raises(ValidationError, match="A manifest requires name, description, entrypoint"):
        Manifest.read(place)


@pytest.mark.parametrize("entrypoint", ["../one/main.py", "/etc/hostname", "a\0b", "a/../main.py"])
def test_entrypoint_outside_the_folder_is_refused(write, entrypoint):
    failures = wrong(write(entrypoint=entrypoint))
    assert "is not a path inside the tool's folder" in failures["/entrypoint"]


@pytest.mark.parametrize("entrypoint", ["other.py", ".", "", "x" * 5_000])
def test_missing_entrypoint_file_is_refused(write, entrypoint):
    assert list(wrong(write(entrypoint=entrypoint))) == ["/entrypoint"]


def test_entrypoint_link_out_of_the_folder_is_refused(write, tmp_path):
    place = write(entrypoint="link.py")
    (tmp_path / "outside.py").write_text("")
    (place / "link.py").symlink_to(tmp_path / "outside.py")
    assert "is a link to a path outside the tool's folder" in wrong(place)["/entrypoint"]


def test_entrypoint_link_to_itself_is_refused(write):
    place = write(entrypoint="loop.py")
    (place / "loop.py").symlink_to("loop.py")
    assert list(wrong(place)) == ["/entrypoint"]


def test_entrypoint_may_be_in_a_subfolder(write):
    place = write(entrypoint="source/run.py")
    (place / "source").mkdir()
    (place / "source/run.py").write_text("")
    assert Manifest.read(place).script == place / "source/run.py"


def test_manifest_of_a_megabyte_is_refused(write):
    assert "is longer than" in wrong(write(description="x" * 2**20))[""]


def test_unreadable_manifest_is_refused(tmp_path):
    (tmp_path / "tool.json").mkdir()
    assert "is not a regular file" in wrong(tmp_path)[""]


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"name": 1, "name": 2}', "\ud800"])
def test_non_strict_json_manifest_is_refused(write, text):
    place = write()
    (place / "tool.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValidationError) as caught:
        Manifest.read(place)
    assert caught.value.code == "json_invalid"


def test_checks_fail_when_the_manifest_or_the_script_changes(write):
    place = write()
    manifest = Manifest.read(place)
    assert manifest.checks() == {"entrypoint": True, "manifest": True}
    document = json.loads((place / "tool.json").read_text())
    (place / "tool.json").write_text(json.dumps(document | {"description": "another"}))
    assert manifest.checks() == {"entrypoint": True, "manifest": False}
    (place / "main.py").unlink()
    (place / "tool.json").unlink()
    assert manifest.checks() == {"entrypoint": False, "manifest": False}


@pytest.mark.parametrize("text", ["[]", "7", '"tool"', "null"])
def test_non_object_manifest_is_refused(write, text):
    place = write()
    (place / "tool.json").write_text(text)
    assert "is not of type 'object'" in wrong(place)[""]
