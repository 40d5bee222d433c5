"""A node, and packages whose bytes were changed after they were compiled."""

import pytest

from nexus_tools.sui.bytecode import TableKind, read_header
from nexus_tools.sui.localnet.node import Node

MANIFEST = '[package]\nname = "sample"\nedition = "2024"\n\n[addresses]\nsample = "0x0"\n'


@pytest.fixture(scope="session")
def build_module(move_builder):
    """Compile the body of a module `sample::main`."""

    def build(body):
        sources = {"Move.toml": MANIFEST, "sources/main.move": f"module sample::main;\n{body}\n"}
        (module,) = move_builder.build(sources).modules
        return module

    return build


def edit(data, table, old, new):
    """Replace bytes, which occur once in the table, by others of the same length."""
    start, end = read_header(data).tables[TableKind[table]]
    rows = data[start:end]
    assert rows.count(old) == 1
    assert len(old) == len(new)
    return data[:start] + rows.replace(old, new) + data[end:]


@pytest.fixture
def edited():
    return edit


@pytest.fixture(scope="module")
def node():
    """Return a node that the tests of a file share."""
    node = Node.open()
    yield node
    node.close()
