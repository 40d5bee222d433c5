"""Requests to the kernel."""

import os
import subprocess
import sys

# Root may read everything, so another user must try. Nothing is imported after the change of user.
TRY = """
import os, sys
from nexus_tools.bridges.sandbox import hide_environment
import ctypes
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
    # A change of user hides the environment as well. A newly started program is visible.
    ctypes.CDLL(None).prctl(4, 1)
def child_reads():
    pid = os.fork()
    if not pid:
        try:
            with open(f"/proc/{os.getppid()}/environ", "rb") as file:
                os._exit(b"SECRET=secret" in file.read())
        except PermissionError:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
before = child_reads()
print(before, hide_environment(), child_reads())
"""


def test_hidden_environment_is_unreadable_for_the_same_user():
    make_result = subprocess.run(
        [sys.executable, "-c", TRY],
        env={"SECRET": "secret", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (make_result.stdout, make_result.stderr) == ("1 True 2\n", "")
