"""What the README promises: its commands are typed here as they stand there."""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def environment(tmp_path):
    """A user's environment, with homes of its own and free ports in place of the usual ones."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NEXUS_")}
    port = free_port()
    return kept | {
        "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "NEXUS_TOOLS_LOCALNET_PORT": "0",
        "BIND_ADDR": f"127.0.0.1:{port}",
        "TOOL_PORT": str(port),
    }


def session(heading):
    """The lines behind `$` in the first console block under a heading."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    block = re.search(r"```console\n(.*?)```", section, re.DOTALL)[1]
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def run_script(script, environment, timeout):
    return subprocess.run(
        ["bash"],
        input=script,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


TIDY = "kill $(jobs -p) || true; nexus-tools localnet stop --quiet || true"
WAIT_FOR_TOOLS = """
python - <<'PY'
import os, time, urllib.request
for _ in range(600):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{os.environ['TOOL_PORT']}/tools", timeout=1)
        break
    except OSError:
        time.sleep(0.05)
PY
"""


@pytest.mark.timeout(300)
def test_the_sixty_seconds_go_as_they_are_written(environment):
    lines = ["set -e", f"trap '{TIDY}' EXIT"]
    for line in session("Sixty seconds"):
        command = line.replace("127.0.0.1:8080", environment["BIND_ADDR"])
        lines.append(command)
        if "tool serve" in command:
            lines.append(WAIT_FOR_TOOLS)
    done = run_script("\n".join(lines), environment, 280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '{"quotient": 42, "remainder": 0}' in done.stdout
    assert "claimed 1 SUI" in done.stderr


def test_the_commands_of_bridges_go_as_they_are_written(environment):
    block = README.split("```console\n$ nexus-tools bridge show")[1].split("```")[0]
    script = "set -eo pipefail\nnexus-tools bridge show" + block.replace("\n$ ", "\n")
    done = run_script(script, environment, 100)
    assert done.returncode == 0, done.stdout + done.stderr
    for system in ("unstract", "sos", "nora", "hyperpocket", "mcp"):
        assert f"local.{system}." in done.stdout, system
    assert '"name": "org_example_borrowed_word_count_v1"' in done.stdout


@pytest.mark.timeout(300)
def test_the_demo_tells_the_whole_story(environment):
    done = run_script("scripts/demo", environment, 280)
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("published", "3 SUI locked", "settled", "claimable at", "balance after"):
        assert word in done.stdout, word


def test_the_program_prints_what_is_said(environment, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    file = tmp_path / "program.py"
    file.write_text(code)
    done = run_script(f"python -W error {file}", environment, 100)
    assert (done.stderr, done.stdout) == ("", "ok 42\n")


def test_the_readme_is_short():
    assert len(README.splitlines()) < 150


def test_every_room_stands_in_the_tree_of_the_readme():
    rooms = [
        path.name for path in (ROOT / "nexus_tools").iterdir() if (path / "__init__.py").exists()
    ]
    assert [room for room in rooms if f"  {room}/" not in README] == []


@pytest.mark.parametrize("page", re.findall(r"\]\(([\w/.]+\.md)\)", README))
def test_a_page_that_the_readme_names_is_there(page):
    assert (ROOT / page).is_file()
