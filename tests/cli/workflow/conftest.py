"""The workflows of the examples, and changed copies of them; a Leader that carries them."""

import json

import pytest


@pytest.fixture(scope="module")
def running(operator, carrier):
    """The operator's Leader, which runs as long as the module lasts."""
    return operator.daemon("works", "leader", "run", "--allow-loopback")


@pytest.fixture
def workflows(examples):
    """The folder of the example workflows."""
    return examples / "workflows"


@pytest.fixture
def changed(workflows, tmp_path):
    """Writes a copy of an example that a function has changed; gives its path."""

    def write(name, change):
        document = json.loads((workflows / name).read_text())
        change(document)
        path = tmp_path / name
        path.write_text(json.dumps(document, indent=2))
        return path

    return write
