"""Programs that want to live on: nothing of them does."""

import signal

import pytest

from nexus_tools.bridges.sandbox import UNCONFINED, Limit

ESCAPE = """
import os, signal
def escape():
    # The old way of daemons: a session of its own, and no parent.
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
def _nothing_is_left(scratch, left_of):
    yield
    assert left_of(scratch) == []


async def test_a_grandchild_that_holds_the_pipes_dies_with_the_program(run_python, is_alive):
    code = "import os, signal\npid = os.fork()\nif pid: print(pid)\nelse: signal.pause()"

    finished = await run_python(code)

    assert finished.exit_code == 0
    assert not is_alive(finished.stdout)


async def test_a_daemon_dies_with_the_program(run_python, is_alive):
    finished = await run_python(ESCAPE)

    assert finished.exit_code == 0
    assert not is_alive(finished.stdout)


async def test_a_daemon_dies_when_the_time_is_up(run_python, is_alive):
    finished = await run_python(f"{ESCAPE}\nsignal.pause()", limits={"time_ms": 1000})

    assert finished.limit is Limit.TIME
    assert not is_alive(finished.stdout)


async def test_processes_that_are_halted_die(run_python):
    code = """
import os, signal
if os.fork(): os.waitpid(-1, os.WUNTRACED)
else:
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
"""
    finished = await run_python(code)

    assert finished.exit_code == 0


async def test_a_bomb_of_processes_in_one_group_is_put_out(run_python):
    code = "import os, signal\nfor _ in range(9): os.fork()\nsignal.pause()"

    finished = await run_python(code, limits={"processes": 40})

    assert finished.limit is Limit.PROCESSES


async def test_a_bomb_of_processes_in_groups_of_their_own_is_put_out(run_python):
    code = """
import os, signal
for _ in range(9):
    if not os.fork(): os.setsid()
signal.pause()
"""
    finished = await run_python(code, limits={"processes": 40})

    assert finished.limit is Limit.PROCESSES


async def test_a_bomb_that_never_stops_is_put_out(run_python):
    """Each process is replaced by a child in a group of its own, as fast as it can be."""
    code = """
import os
while True:
    if os.fork(): os._exit(0)
    os.setpgid(0, 0)
"""
    finished = await run_python(code, limits={"time_ms": 300})

    assert finished.exit_code == 0


async def test_a_program_that_kills_its_own_group_is_killed_by_that(run_python):
    finished = await run_python("import os, signal; os.killpg(0, signal.SIGKILL)")

    assert (finished.exit_code, finished.limit) == (-signal.SIGKILL, None)


async def test_a_program_that_kills_its_parent_dies_with_it(run_python):
    code = "import os, signal; os.kill(os.getppid(), signal.SIGKILL); signal.pause()"

    finished = await run_python(code, confinement=UNCONFINED)

    assert (finished.exit_code, finished.limit) == (-signal.SIGKILL, None)


async def test_a_program_that_tells_its_parent_to_stop_is_killed(run_python):
    code = "import os, signal; os.kill(os.getppid(), signal.SIGTERM); signal.pause()"

    finished = await run_python(code, confinement=UNCONFINED)

    assert (finished.exit_code, finished.limit) == (-signal.SIGKILL, None)


async def test_a_daemon_dies_though_its_watch_was_killed(run_python, is_alive):
    code = f"parent = __import__('os').getppid()\n{ESCAPE}\nos.kill(parent, signal.SIGKILL)"

    finished = await run_python(code, confinement=UNCONFINED)

    assert finished.exit_code == -signal.SIGKILL
    assert not is_alive(finished.stdout)


async def test_a_daemon_has_ended_for_good_when_the_run_is_over(run_python, is_alive):
    """The kernel takes its time to free the memory of a process that was killed."""
    large = ESCAPE.replace("print(os", "memory = b'1' * 300_000_000\n    print(os")
    code = f"parent = __import__('os').getppid()\n{large}\nos.kill(parent, signal.SIGKILL)"

    finished = await run_python(code, confinement=UNCONFINED)

    assert not is_alive(finished.stdout)


async def test_a_program_that_halts_its_watch_is_stopped_for_time(run_python):
    code = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP); signal.pause()"

    finished = await run_python(code, limits={"time_ms": 100}, confinement=UNCONFINED)

    assert (finished.limit, finished.exit_code) == (Limit.TIME, None)


async def test_a_run_after_a_hostile_one_is_as_any(run_python):
    await run_python("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")

    finished = await run_python("print('well')")

    assert (finished.exit_code, finished.stdout) == (0, b"well\n")
