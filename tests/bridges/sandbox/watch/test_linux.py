"""What the kernel is asked for."""

import os
import subprocess
import sys

# Root may look at everything, so another user has to try; nothing is imported after the change.
TRY = """
import os, sys
from nexus_tools.bridges.sandbox import hide_environment
import ctypes
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
    # A change of user hides as well; as a program that is just started, it can be seen.
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


def test_another_process_of_the_user_can_no_longer_read_the_environment():
    finished = subprocess.run(
        [sys.executable, "-c", TRY],
        env={"SECRET": "secret", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (finished.stdout, finished.stderr) == ("1 True 2\n", "")
