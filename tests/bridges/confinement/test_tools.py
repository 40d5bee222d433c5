"""Honest tools of each system work, and hostile ones get nowhere, whoever serves them."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

CALLING = Path(__file__).with_name("calling.py")
NOBODY = 65534
USERS = [0, NOBODY] if os.getuid() == 0 else [os.getuid()]


def as_nobody(command):
    """The command line that runs it as nobody, who may not look into the homes of others.

    An interpreter in such a home is mounted once more where its path leads, in mounts of its own.
    """
    base = Path(sys.base_prefix).resolve()
    closed = [folder for folder in reversed(base.parents) if not folder.stat().st_mode & 0o001]
    steps = ["set -e"]
    if closed:
        steps += [
            "kept=$(mktemp -d)",
            f"mount --bind {shlex.quote(str(base))} $kept",
            f"mount -t tmpfs -o mode=755 none {shlex.quote(str(closed[0]))}",
            f"mkdir -p {shlex.quote(str(base))}",
            f"mount --bind $kept {shlex.quote(str(base))}",
        ]
    steps += [
        f"exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {shlex.join(command)}"
    ]
    return ["unshare", "--mount", "sh", "-c", "\n".join(steps)]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("system", ["nora", "sos", "hyperpocket", "unstract", "mcp"])
def test_honest_tools_work_and_hostile_ones_get_nowhere(system, user):
    command = [sys.executable, str(CALLING), system, sys.executable]
    line = as_nobody(command) if user == NOBODY and os.getuid() == 0 else command
    ended = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)

    assert ended.returncode == 0, ended.stderr[-3000:]
    report = json.loads(ended.stdout.splitlines()[-1])

    assert report["user"] == user
    assert report["honest"] == report["expected"]
    assert {name: got for name, got in report["hostile"].items() if got} == {}
    assert len(report["hostile"]) >= 10
    assert not report["daemon lives"]
    assert report["key is as it was"]
