"""The descendants of a process, and their memory."""

import subprocess
import sys

import pytest

from nexus_tools.bridges.sandbox.watch import process_tree

# A parent with 64 MiB, and a child and a grandchild that share its pages.
FAMILY = """
import os, sys
held = bytearray(b'x' * 64 * 2**20)
pids = [os.getpid()]
for _ in range(2):
    if os.fork(): break
    pids.append(os.getpid())
else:
    print(*pids, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def family():
    """Return the IDs of a process, its child, and its grandchild."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield [int(word) for word in process.stdout.readline().split()]
        process.stdin.close()


@pytest.mark.parametrize("has_children", [True, False], ids=["listed", "by their parents"])
def test_descendants_are_listed_parents_first(family, monkeypatch, has_children):
    monkeypatch.setattr(process_tree, "_HAS_CHILDREN", has_children)
    parent, child, grandchild = family

    assert process_tree.descendants(parent) == [child, grandchild]
    assert process_tree.descendants(grandchild) == []


def test_shared_memory_counts_once(family):
    mib = 2**20

    assert 64 * mib < process_tree.memory_bytes(family, enough=100 * mib) < 100 * mib


def test_memory_far_below_the_limit_is_not_split(family):
    mib = 2**20

    assert process_tree.memory_bytes(family, enough=1000 * mib) > 3 * 64 * mib


def test_ended_process_has_no_memory():
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", ""]) as process:
        process.wait()

    assert process_tree.memory_bytes([process.pid], enough=0) == 0
