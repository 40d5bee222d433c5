import json
import socket
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "bridges"


@pytest.fixture
def nora():
    """The example of NORA: one tool, `word_count`."""
    return EXAMPLES / "nora"


@pytest.fixture
def make_tool(tmp_path):
    """Writes a tool of NORA; gives the folder of tools."""

    def make(name, script, **changes):
        folder = tmp_path / "tools" / name
        folder.mkdir(parents=True)
        manifest = {
            "name": name,
            "description": "A tool of a test.",
            "entrypoint": "main.py",
            "parameters": {"type": "object", "properties": {}},
        }
        (folder / "tool.json").write_text(json.dumps(manifest | changes))
        (folder / "main.py").write_text(script)
        return folder.parent

    return make


@pytest.fixture
def serve_bridge(home):
    """Starts `bridge serve` on a free port; gives the URL of the server, and the daemon."""

    def serve(*arguments, **environment):
        daemon = home.daemon(
            "@1 at ", "bridge", "serve", *arguments, BIND_ADDR="127.0.0.1:0", **environment
        )
        return daemon.line.strip().split(" at ")[1].rpartition("/")[0], daemon

    return serve


@pytest.fixture
def free_url():
    """Return a URL without a server: the port is bound, but not listened on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
