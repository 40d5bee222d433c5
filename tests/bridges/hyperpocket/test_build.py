"""Builds run once per content, in the background, with their own settings."""

from dataclasses import replace

import pytest
import structlog

from nexus_tools.bridges import Naming
from nexus_tools.bridges.hyperpocket.bridge import HyperpocketBridge
from nexus_tools.bridges.hyperpocket.build import MAX_FILES, copy_sources
from nexus_tools.errors import UsageError
from nexus_tools.tool_server import NotReadyError

COUNTED = "echo once >> {}"


@pytest.fixture
def log_lines():
    """Return the log lines of the test."""
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
def serve_built(discover_tools, tmp_path):
    """Serve a folder's tool until it is built; yield it and the number of builds."""

    async def serve_built(folder):
        discovery = await discover_tools(folder)
        [tool] = discovery.tools
        async with discovery.running():
            await tool.build.ended()
        count = tmp_path / "counted" / "count"
        return tool, len(count.read_text().splitlines()) if count.exists() else 0

    return serve_built


async def test_discovery_builds_nothing(write_packaged, discover_tools, tmp_path, host):
    folder = write_packaged(build=COUNTED.format(tmp_path / "counted" / "count"))
    [tool] = (await discover_tools(folder)).tools
    assert await tool.check_health() == {"built": False}
    assert not (tmp_path / "counted" / "count").exists()
    assert not host.cache.exists()


async def test_health_is_good_when_the_tool_is_built(write_packaged, serve_built):
    tool, _ = await serve_built(write_packaged({"main.sh": ""}))
    assert await tool.check_health() == {"built": True}


async def test_build_runs_once_for_the_same_content(write_packaged, serve_built, tmp_path):
    folder = write_packaged(
        {"main.sh": "echo 1"}, build=COUNTED.format(tmp_path / "counted" / "count")
    )
    await serve_built(folder)
    _, count = await serve_built(folder)
    assert count == 1


async def test_build_runs_again_when_the_content_changes(write_packaged, serve_built, tmp_path):
    folder = write_packaged(
        {"main.sh": "echo 1"}, build=COUNTED.format(tmp_path / "counted" / "count")
    )
    await serve_built(folder)
    (folder / "main.sh").write_text("echo 2")
    _, count = await serve_built(folder)
    assert count == 2


async def test_call_is_not_ready_when_the_build_failed(write_packaged, call_tool, log_lines):
    folder = write_packaged(build="echo no such package >&2; exit 9")
    reason = "the build failed: the tool exited with code 9"
    with pytest.raises(NotReadyError, match=reason):
        await call_tool(folder, {})
    [failure] = [entry for entry in log_lines if entry["event"] == "build_failed"]
    assert (failure["reason"], failure["log"]) == (reason, "no such package")


async def test_health_is_bad_when_the_build_failed(write_packaged, serve_built, host):
    tool, _ = await serve_built(write_packaged(build="exit 9"))
    assert await tool.check_health() == {"built": False}
    assert list((host.cache / "hyperpocket").iterdir()) == []


async def test_call_is_not_ready_when_nothing_is_built_yet(write_packaged, discover_tools):
    [tool] = (await discover_tools(write_packaged())).tools
    with pytest.raises(NotReadyError, match="the tool is not built yet"):
        await tool.invoke({})


async def test_package_manager_settings_are_only_for_builds(write_packaged, host):
    settings = {
        "PIP_INDEX_URL": "https://user:pass@example.com",
        "UV_CACHE_DIR": "/x",
        "npm_config_registry": "https://r",
        "HTTPS_PROXY": "http://p",
    }
    host = replace(host, environment={**host.environment, **settings})
    folder = write_packaged({"main.sh": "cat built; env"}, build="env > built")
    discovery = await HyperpocketBridge().discover(folder, host, Naming("xyz.example"))
    [tool] = discovery.tools
    async with discovery.running():
        await tool.build.ended()
        result = (await tool.invoke({})).as_json()["ok"]["result"]
    assert [result.count(f"{name}=") for name in settings] == [1, 1, 1, 1]
    assert "not-for-tools" not in result


@pytest.mark.parametrize(
    ("settings", "printed", "log"),
    [
        (
            {"PIP_INDEX_URL": "https://user:hunter22@example.com/simple"},
            "$PIP_INDEX_URL and hunter22",
            "https://[redacted]@example.com/simple and [redacted]",
        ),
        (
            {"PIP_INDEX_URL": "https://user:p%40ssword@example.com"},
            "the password is p@ssword",
            "the password is [redacted]",
        ),
        (
            {"UV_INDEX_URL": "https://pypi-token-1@example.com"},
            "$UV_INDEX_URL",
            "https://[redacted]@example.com",
        ),
        (
            {"PIP_FIND_LINKS": "https://example.com/links?sig=a1b2c3d4"},
            "$PIP_FIND_LINKS",
            "https://example.com/links?[redacted]",
        ),
        ({"UV_PUBLISH_TOKEN": "pypi-abc"}, "$UV_PUBLISH_TOKEN", "[redacted]"),
        ({"npm_config__auth": "dXNlcjpwdw=="}, "$npm_config__auth", "[redacted]"),
        (
            {"PIP_FIND_LINKS": "/srv/wheels", "UV_CACHE_DIR": "/srv/cache"},
            "cannot read $PIP_FIND_LINKS or $UV_CACHE_DIR",
            "cannot read /srv/wheels or /srv/cache",
        ),
        (
            {"PIP_INDEX_URL": "https://user:hunter22@example.com/simple"},
            "no route to example.com/simple",
            "no route to example.com/simple",
        ),
    ],
)
async def test_build_log_hides_secrets_and_nothing_else(
    write_packaged, host, log_lines, settings, printed, log
):
    host = replace(host, environment={**host.environment, **settings})
    folder = write_packaged(build=f'echo "{printed}" >&2; exit 1')
    discovery = await HyperpocketBridge().discover(folder, host, Naming("xyz.example"))
    async with discovery.running():
        await discovery.tools[0].build.ended()
    [failure] = [entry for entry in log_lines if entry["event"] == "build_failed"]
    assert failure["log"] == log


async def test_discovery_refuses_a_tool_that_needs_a_build_when_builds_are_disabled(
    write_packaged, discover_tools
):
    discovery = await discover_tools(write_packaged(build="true"), builds=False)
    [refusal] = discovery.rejected
    assert refusal.reason == "the tool must be built, but builds are disabled"
    assert discovery.tools == ()


def test_copy_omits_links_out_of_the_folder(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (tmp_path / "secret").write_text("x")
    (source / "link").symlink_to(tmp_path / "secret")
    (source / "kept").write_text("y")
    copy_sources(source, target)
    assert [path.name for path in target.iterdir()] == ["kept"]


def test_copy_omits_files_of_other_runs(tmp_path):
    source = tmp_path / "source"
    (source / "__pycache__").mkdir(parents=True)
    (source / "main.py").write_text("1")
    before = copy_sources(source, tmp_path / "one")
    (source / "__pycache__" / "main.pyc").write_text("2")
    assert copy_sources(source, tmp_path / "two") == before


def test_content_changes_when_a_file_becomes_executable(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "app").touch(0o600)
    before = copy_sources(source, tmp_path / "one")
    (source / "app").chmod(0o700)
    assert copy_sources(source, tmp_path / "two") != before


def test_folder_with_too_many_files_is_refused(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for number in range(MAX_FILES + 1):
        (source / str(number)).touch()
    with pytest.raises(UsageError) as caught:
        copy_sources(source, tmp_path / "target")
    assert caught.value.code == "tool_too_large"
