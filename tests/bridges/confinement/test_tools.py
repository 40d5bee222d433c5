"""Honest tools of each system work, and hostile ones fail, for every user that serves them."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

CALLING = Path(__file__).with_name("calling.py")
NOBODY = 65534
OTHERS = ("sos", "hyperpocket", "unstract", "mcp")
USERS = [0, NOBODY] if os.getuid() == 0 else [os.getuid()]


def as_nobody(command):
    """Return the command line as the user `nobody`, who has no access to other home folders.

    An interpreter in such a home is mounted again at its own path, in private mounts.
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


def without_mounts(command):
    """Return the command line as the root of a user namespace that may not mount."""
    denied = "echo 0 > /proc/sys/user/max_mnt_namespaces"
    return ["unshare", "--user", "--map-root-user", "sh", "-ec", f"{denied}\n{shlex.join(command)}"]


# According to docs/concepts/sandbox.md, for files of the user.
LEFT_WITHOUT_MOUNTS = {"change_files": ["mode", "time", "owner"]}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    "system",
    [
        "nora",
        *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS),
    ],
)
def test_honest_tools_work_and_hostile_tools_fail(system, user, may_mount):
    as_user = list if user == os.getuid() else as_nobody
    if not can_run(as_user):
        pytest.skip("this root user is not allowed to switch to another user")
    report = report_of(system, as_user)

    assert report["user"] == user
    assert_confined(report, {} if may_mount(as_user) else LEFT_WITHOUT_MOUNTS)


@pytest.mark.long
def test_hostile_tools_only_change_file_attributes_when_mounts_are_unavailable(
    may_mount,
):
    if not can_run(without_mounts):
        pytest.skip("the kernel does not allow user namespaces, which private mounts need")
    assert not may_mount(without_mounts)
    assert_confined(report_of("nora", without_mounts), LEFT_WITHOUT_MOUNTS)


def can_run(as_user):
    return subprocess.run(as_user(["true"]), capture_output=True, check=False).returncode == 0


def report_of(system, as_user):
    command = as_user([sys.executable, str(CALLING), system, sys.executable])
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


def assert_confined(report, left):
    """Assert that honest tools work, and that hostile ones succeed only with `left`."""
    assert report["honest"] == report["expected"]
    assert {name: got for name, got in report["hostile"].items() if got} == left
    assert len(report["hostile"]) >= 10
    assert not report["daemon lives"]
    assert report["key is as it was"]
