"""What a host without containers can run."""

from dataclasses import replace

import pytest

from nexus_tools.bridges.hyperpocket.manifest import Manifest
from nexus_tools.bridges.hyperpocket.runtime import Language, language_of
from nexus_tools.errors import UsageError


@pytest.fixture
def programs(host, tmp_path):
    """A host that has these programs, and no others."""

    def programs(*names):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in names:
            (folder / name).touch(0o700)
        return replace(host, environment={"PATH": str(folder)})

    return programs


def manifest(language="", image="", build=""):
    tool = {"tool": {"name": "x"}, "entrypoint": {"run": "./x", "build": build}}
    return Manifest.parse(tool | {"language": language, "baseImage": image})


def test_a_tool_in_python_needs_no_program(programs):
    assert language_of(manifest("python"), programs()) is Language.PYTHON


@pytest.mark.parametrize(
    ("language", "image", "program"),
    [
        ("node", "", "node"),
        ("", "golang", "go"),
        ("", "docker.io/library/golang:1.24@sha256:00", "go"),
        ("python", "ghcr.io/astral-sh/uv:python3.11", "uv"),
    ],
)
def test_an_interpreter_is_derived_of_the_language_or_the_image(programs, language, image, program):
    assert language_of(manifest(language, image), programs(program)) in Language


def test_an_interpreter_that_is_missing_is_named(programs):
    with pytest.raises(UsageError, match="needs the program go,") as caught:
        language_of(manifest("", "golang"), programs())
    assert caught.value.code == "program_missing"


@pytest.mark.parametrize("image", ["ubuntu", "registry:5000/own/tool:1", "alpine@sha256:00"])
def test_an_image_that_nothing_here_stands_for_needs_a_container(programs, image):
    with pytest.raises(UsageError, match="runs in the container image") as caught:
        language_of(manifest("", image), programs("node", "go"))
    assert caught.value.code == "container_needed"


def test_a_language_that_nobody_knows_is_named(programs):
    with pytest.raises(UsageError, match="'cobol' is none of"):
        language_of(manifest("cobol"), programs())


@pytest.mark.parametrize(
    "build", ["apt-get update && pip install .", "pip install . && sudo make", "(apk add jq)"]
)
def test_a_build_that_changes_the_operating_system_is_refused(programs, build):
    with pytest.raises(UsageError, match="packages of the operating system") as caught:
        language_of(manifest("python", build=build), programs())
    assert caught.value.code == "container_needed"


def test_a_build_may_name_files_like_package_managers(programs):
    build = "pip install ./apt-get-parser"
    assert language_of(manifest("python", build=build), programs()) is Language.PYTHON
