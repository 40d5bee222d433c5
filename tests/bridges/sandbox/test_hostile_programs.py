"""Programs that try to survive their run; none of them does."""

import signal

import pytest

from nexus_tools.bridges.sandbox import UNCONFINED, Limit

ESCAPE = """
import os, signal
def escape():
    # The traditional daemon: a session of its own, and no parent.
    if os.fork(): return
    os.setsid()
    if os.fork(): os._exit(0)
    print(os.getpid(), flush=True)
    os.close(writer)
    signal.pause()
reader, writer = os.pipe()
escape()
os.close(writer)
os.read(reader, 1)
"""


@pytest.fixture(autouse=True)
def _no_process_remains(scratch, remaining_processes):
    yield
    assert remaining_processes(scratch) == []


async def test_grandchild_with_open_pipes_dies_with_the_program(run_python, is_alive):
    code = "import os, signal\npid = os.fork()\nif pid: print(pid)\nelse: signal.pause()"

    make_result = await run_python(code)

    assert make_result.exit_code == 0
    assert not is_alive(make_result.stdout)


async def test_daemon_dies_with_the_program(run_python, is_alive):
    make_result = await run_python(ESCAPE)

    assert make_result.exit_code == 0
    assert not is_alive(make_result.stdout)


async def test_daemon_dies_at_the_time_limit(run_python, is_alive):
    make_result = await run_python(f"{ESCAPE}\nsignal.pause()", limits={"time_ms": 1000})

    assert make_result.limit is Limit.TIME
    assert not is_alive(make_result.stdout)


async def test_stopped_processes_die(run_python):
    code = """
import os, signal
if os.fork(): os.waitpid(-1, os.WUNTRACED)
else:
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
"""
    make_result = await run_python(code)

    assert make_result.exit_code == 0


async def test_fork_bomb_in_one_group_is_stopped(run_python):
    code = "import os, signal\nfor _ in range(9): os.fork()\nsignal.pause()"

    make_result = await run_python(code, limits={"processes": 40})

    assert make_result.limit is Limit.PROCESSES


async def test_fork_bomb_in_separate_groups_is_stopped(run_python):
    code = """
import os, signal
for _ in range(9):
    if not os.fork(): os.setsid()
signal.pause()
"""
    make_result = await run_python(code, limits={"processes": 40})

    assert make_result.limit is Limit.PROCESSES


async def test_endless_fork_bomb_is_stopped(run_python):
    """Each process is replaced by a child in its own group as fast as possible."""
    code = """
import os
while True:
    if os.fork(): os._exit(0)
    os.setpgid(0, 0)
"""
    make_result = await run_python(code, limits={"time_ms": 300})

    assert make_result.exit_code == 0


async def test_program_that_kills_its_own_group_dies(run_python):
    make_result = await run_python("import os, signal; os.killpg(0, signal.SIGKILL)")

    assert (make_result.exit_code, make_result.limit) == (-signal.SIGKILL, None)


async def test_program_that_kills_its_parent_dies(run_python):
    code = "import os, signal; os.kill(os.getppid(), signal.SIGKILL); signal.pause()"

    make_result = await run_python(code, confinement=UNCONFINED)

    assert (make_result.exit_code, make_result.limit) == (-signal.SIGKILL, None)


async def test_program_that_terminates_its_parent_dies(run_python):
    code = "import os, signal; os.kill(os.getppid(), signal.SIGTERM); signal.pause()"

    make_result = await run_python(code, confinement=UNCONFINED)

    assert (make_result.exit_code, make_result.limit) == (-signal.SIGKILL, None)


async def test_daemon_dies_when_its_watch_was_killed(run_python, is_alive):
    code = f"parent = __import__('os').getppid()\n{ESCAPE}\nos.kill(parent, signal.SIGKILL)"

    make_result = await run_python(code, confinement=UNCONFINED)

    assert make_result.exit_code == -signal.SIGKILL
    assert not is_alive(make_result.stdout)


async def test_daemon_has_ended_when_the_run_is_over(run_python, is_alive):
    """The kernel needs time to free the memory of a killed process."""
    large = ESCAPE.replace("print(os", "memory = b'1' * 300_000_000\n    print(os")
    code = f"parent = __import__('os').getppid()\n{large}\nos.kill(parent, signal.SIGKILL)"

    make_result = await run_python(code, confinement=UNCONFINED)

    assert not is_alive(make_result.stdout)


async def test_program_that_stops_its_watch_hits_the_time_limit(run_python):
    code = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP); signal.pause()"

    make_result = await run_python(code, limits={"time_ms": 100}, confinement=UNCONFINED)

    assert (make_result.limit, make_result.exit_code) == (Limit.TIME, None)


async def test_run_after_a_hostile_run_works(run_python):
    await run_python("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")

    make_result = await run_python("print('well')")

    assert (make_result.exit_code, make_result.stdout) == (0, b"well\n")
