"""Builds: once for a content, in the background, and for the build only."""

from dataclasses import replace

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.hyperpocket.bridge import HyperpocketBridge
from nexus_tools.bridges.hyperpocket.build import MAX_FILES, copy_sources
from nexus_tools.errors import UsageError

COUNTED = "echo once >> {}"


@pytest.fixture
def built(found, tmp_path):
    """Serves a folder's tool until it is built; gives it, and how often builds have run."""

    async def built(folder):
        discovery = await found(folder)
        [tool] = discovery.tools
        async with discovery.running():
            await tool.build.ended()
        count = tmp_path / "counted" / "count"
        return tool, len(count.read_text().splitlines()) if count.exists() else 0

    return built


async def test_discovery_builds_nothing(packaged, found, tmp_path, host):
    folder = packaged(build=COUNTED.format(tmp_path / "counted" / "count"))
    [tool] = (await found(folder)).tools
    assert await tool.check_health() == {"built": False}
    assert not (tmp_path / "counted" / "count").exists()
    assert not host.cache.exists()


async def test_a_tool_is_healthy_when_it_is_built(packaged, built):
    tool, _ = await built(packaged({"main.sh": ""}))
    assert await tool.check_health() == {"built": True}


async def test_the_same_content_is_built_once(packaged, built, tmp_path):
    folder = packaged({"main.sh": "echo 1"}, build=COUNTED.format(tmp_path / "counted" / "count"))
    await built(folder)
    _, count = await built(folder)
    assert count == 1


async def test_a_changed_content_is_built_anew(packaged, built, tmp_path):
    folder = packaged({"main.sh": "echo 1"}, build=COUNTED.format(tmp_path / "counted" / "count"))
    await built(folder)
    (folder / "main.sh").write_text("echo 2")
    _, count = await built(folder)
    assert count == 2


async def test_a_failed_build_is_an_error_with_the_end_of_its_log(packaged, called):
    folder = packaged(build="echo no such package >&2; exit 9")
    assert await called(folder, {}) == {
        "err": {
            "reason": "its build failed: the tool ended with exit code 9",
            "log": "no such package",
        }
    }


async def test_a_tool_whose_build_failed_is_not_healthy(packaged, built, host):
    tool, _ = await built(packaged(build="exit 9"))
    assert await tool.check_health() == {"built": False}
    assert list((host.cache / "hyperpocket").iterdir()) == []


async def test_a_call_outside_of_the_serving_time_finds_nothing_built(packaged, found):
    [tool] = (await found(packaged())).tools
    outcome = await tool.invoke({})
    assert outcome.as_json() == {"err": {"reason": "the tool is not built yet"}}


async def test_settings_of_package_managers_are_for_the_build_alone(packaged, host):
    settings = {
        "PIP_INDEX_URL": "https://user:pass@example.com",
        "UV_CACHE_DIR": "/x",
        "npm_config_registry": "https://r",
        "HTTPS_PROXY": "http://p",
    }
    host = replace(host, environment={**host.environment, **settings})
    folder = packaged({"main.sh": "cat built; env"}, build="env > built")
    discovery = await HyperpocketBridge().discover(folder, host, Naming("xyz.example"))
    [tool] = discovery.tools
    async with discovery.running():
        await tool.build.ended()
        result = (await tool.invoke({})).as_json()["ok"]["result"]
    assert [result.count(f"{name}=") for name in settings] == [1, 1, 1, 1]
    assert "not-for-tools" not in result


async def test_the_log_of_a_build_shows_no_password_of_the_operator(packaged, host):
    settings = {"PIP_INDEX_URL": "https://user:hunter22@example.com"}
    host = replace(host, environment={**host.environment, **settings})
    folder = packaged(build="echo $PIP_INDEX_URL and hunter22 >&2; exit 1")
    discovery = await HyperpocketBridge().discover(folder, host, Naming("xyz.example"))
    async with discovery.running():
        error = (await discovery.tools[0].invoke({})).as_json()["err"]
    assert error["log"] == "[redacted] and [redacted]"


async def test_without_builds_a_tool_that_needs_one_is_refused(packaged, found):
    discovery = await found(packaged(build="true"), builds=False)
    [refusal] = discovery.refused
    assert refusal.reason == "it has to be built, and builds are switched off"
    assert discovery.tools == ()


def test_links_out_of_the_folder_are_left_out(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (tmp_path / "secret").write_text("x")
    (source / "link").symlink_to(tmp_path / "secret")
    (source / "kept").write_text("y")
    copy_sources(source, target)
    assert [path.name for path in target.iterdir()] == ["kept"]


def test_what_other_runs_have_left_is_no_part_of_a_tool(tmp_path):
    source = tmp_path / "source"
    (source / "__pycache__").mkdir(parents=True)
    (source / "main.py").write_text("1")
    before = copy_sources(source, tmp_path / "one")
    (source / "__pycache__" / "main.pyc").write_text("2")
    assert copy_sources(source, tmp_path / "two") == before


def test_a_file_that_becomes_executable_is_another_content(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "app").touch(0o600)
    before = copy_sources(source, tmp_path / "one")
    (source / "app").chmod(0o700)
    assert copy_sources(source, tmp_path / "two") != before


def test_a_folder_with_too_many_files_is_refused(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for number in range(MAX_FILES + 1):
        (source / str(number)).touch()
    with pytest.raises(UsageError) as caught:
        copy_sources(source, tmp_path / "target")
    assert caught.value.code == "tool_too_large"
