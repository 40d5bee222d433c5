"""The tools that a host without containers can run."""

from dataclasses import replace

import pytest

from nexus_tools.bridges.hyperpocket.manifest import Manifest
from nexus_tools.bridges.hyperpocket.runtime import Language, detect_language
from nexus_tools.errors import UsageError


@pytest.fixture
def host_with_programs(host, tmp_path):
    """Return a function that creates a host with only the given programs."""

    def host_with_programs(*names):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in names:
            (folder / name).touch(0o700)
        return replace(host, environment={"PATH": str(folder)})

    return host_with_programs


def manifest(language="", image="", build=""):
    tool = {"tool": {"name": "x"}, "entrypoint": {"run": "./x", "build": build}}
    return Manifest.parse(tool | {"language": language, "baseImage": image})


def test_python_tool_needs_no_program(host_with_programs):
    assert detect_language(manifest("python"), host_with_programs()) is Language.PYTHON


@pytest.mark.parametrize(
    ("language", "image", "program"),
    [
        ("node", "", "node"),
        ("", "golang", "go"),
        ("", "docker.io/library/golang:1.24@sha256:00", "go"),
        ("python", "ghcr.io/astral-sh/uv:python3.11", "uv"),
    ],
)
def test_interpreter_is_derived_from_the_language_or_the_image(
    host_with_programs, language, image, program
):
    assert detect_language(manifest(language, image), host_with_programs(program)) in Language


def test_missing_interpreter_is_named(host_with_programs):
    with pytest.raises(UsageError, match="requires the program go,") as caught:
        detect_language(manifest("", "golang"), host_with_programs())
    assert caught.value.code == "program_not_found"


@pytest.mark.parametrize("image", ["ubuntu", "registry:5000/own/tool:1", "alpine@sha256:00"])
def test_unknown_image_requires_a_container(host_with_programs, image):
    with pytest.raises(UsageError, match="requires the container image") as caught:
        detect_language(manifest("", image), host_with_programs("node", "go"))
    assert caught.value.code == "container_required"


def test_unknown_language_is_named(host_with_programs):
    with pytest.raises(UsageError, match="'cobol' is not one of"):
        detect_language(manifest("cobol"), host_with_programs())


@pytest.mark.parametrize(
    "build", ["apt-get update && pip install .", "pip install . && sudo make", "(apk add jq)"]
)
def test_build_that_changes_the_operating_system_is_refused(host_with_programs, build):
    with pytest.raises(UsageError, match="installs operating system packages") as caught:
        detect_language(manifest("python", build=build), host_with_programs())
    assert caught.value.code == "container_required"


def test_build_may_contain_files_named_like_package_managers(host_with_programs):
    build = "pip install ./apt-get-parser"
    assert detect_language(manifest("python", build=build), host_with_programs()) is Language.PYTHON
