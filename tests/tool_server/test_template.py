import subprocess
import sys
from pathlib import Path

import pytest

from nexus_tools import cli
from nexus_tools.cli.framework import write_template
from nexus_tools.tool_server import load
from nexus_tools.tool_server.conformance import Status, check_tool
from nexus_tools.tool_server.testing import BASE_URL, client

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("imports")]

VALUES = {
    "project": "greeter",
    "fqn": "xyz.example.text.greet@1",
    "function": "greet",
    "invoke": "/invoke",
}


@pytest.fixture
def project(tmp_path):
    """The project that the templates describe."""
    [root] = [Path(place) / "tool" / "template_python" for place in cli.__path__]
    write_template(root, tmp_path, VALUES)
    return tmp_path


def test_new_project_passes_its_own_tests(project):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_new_project_conforms_to_the_protocol(project):
    async with client(load(str(project / "tools.py"))) as http:
        rows = [row async for row in check_tool(BASE_URL, http)]
    assert [row.name for row in rows if row.status is not Status.PASSED] == ["tls"]
