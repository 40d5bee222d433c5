"""A workflow with a value that is not on chain, and a leader that fetches it over HTTP."""

import copy
import json
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.cli.workflow.conftest import HALVES

FQN = "xyz.example.elsewhere.halves@1"


@pytest.fixture(scope="module")
def value_server(tmp_path_factory):
    """A folder of values by key, and the URL at which they are served."""
    folder = tmp_path_factory.mktemp("shelf")

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=folder)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}/{{key}}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def fetching_leader(operator, operator_leader, value_server):
    """The operator's Leader, which fetches what is on the shelf."""
    options = ("--allow-loopback", "--storage", f"walrus={value_server[1]}")
    return operator.daemon("works", "leader", "run", *options)


@pytest.fixture(scope="module")
def publish_result(seller, tmp_path_factory):
    """Return the result of publishing a workflow whose second divisor is a remote value."""
    document = copy.deepcopy(HALVES)
    document["default_values"][1]["value"] = {"storage": "walrus", "data": "two"}
    file = tmp_path_factory.mktemp("workflows") / "elsewhere.json"
    file.write_text(json.dumps(document))
    return seller.run("workflow", "publish", file, "--name", FQN, "--yes")


def test_run_fetches_a_remote_value_from_the_configured_storage(
    author, publish_result, fetching_leader, value_server
):
    assert publish_result.code == 0
    (value_server[0] / "two").write_text("2")
    arguments = ("workflow", "run", FQN, "--input", "dividend=84", "--yes")
    found = author.run(*arguments, "--wait")
    warning = (
        "the value of second.divisor is stored in walrus. Name a leader that fetches values from"
    )
    assert warning in found.stderr
    assert "21" in found.stdout
    (value_server[0] / "two").unlink()
    failed = author.run(*arguments, "--wait")
    assert failed.code == 1
    why = "cannot fetch port divisor from walrus, under 'two': the storage has no such value"
    assert f"second failed, input_invalid: {why}" in failed.stderr
