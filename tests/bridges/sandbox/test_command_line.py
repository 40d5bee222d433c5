"""A long-lived program under the watch, started by its command line."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE

import pytest

from nexus_tools.bridges.sandbox import Confinement, ProcessLimits, watched_command


@pytest.fixture
def start_program(scratch):
    """Return a function that starts Python code by the launcher's command line, with pipes."""

    async def start_program(code, **limits):
        line = watched_command(
            [sys.executable, "-I", "-S", "-c", code],
            scratch=scratch,
            limits=ProcessLimits(**limits),
            environment=os.environ,
            confinement=Confinement(),
        )
        return await asyncio.create_subprocess_exec(*line, stdin=PIPE, stdout=PIPE, stderr=PIPE)

    return start_program


async def test_standard_streams_pass_through_both_ways(start_program):
    process = await start_program("for line in iter(input, 'end'): print(line.upper(), flush=True)")

    process.stdin.write(b"one\n")
    first = await process.stdout.readline()
    process.stdin.write(b"two\nend\n")
    second = await process.stdout.readline()

    assert (first, second, await process.wait()) == (b"ONE\n", b"TWO\n", 0)


async def test_time_and_output_are_unlimited(start_program):
    process = await start_program("input(); print('x' * 5000)", time_ms=1, output_bytes=1)

    output, errors = await process.communicate(b"\n")

    assert (len(output), errors, process.returncode) == (5001, b"", 0)


@pytest.mark.parametrize(
    ("statement", "exit_code"),
    [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 15)", 128 + 15)],
)
async def test_exit_code_is_that_of_the_program(start_program, statement, exit_code):
    process = await start_program(statement)

    await process.communicate()

    assert process.returncode == exit_code


async def test_exceeded_limit_is_reported(start_program, scratch, remaining_processes):
    process = await start_program(
        "import os, signal\nfor _ in range(9): os.fork() or signal.pause()\nsignal.pause()",
        processes=3,
    )

    _, errors = await process.communicate()

    assert (process.returncode, remaining_processes(scratch)) == (124, [])
    assert errors.startswith(b"nexus_tools: limit processes: ")


async def test_missing_program_is_reported(scratch):
    line = watched_command(
        ["no-such-program"],
        scratch=scratch,
        limits=ProcessLimits(),
        environment=os.environ,
        confinement=Confinement(),
    )

    process = await asyncio.create_subprocess_exec(*line, stderr=PIPE)
    _, errors = await process.communicate()

    assert process.returncode == 127
    assert b"no-such-program" in errors


DAEMON = """
import os, signal
if not os.fork(): os.setsid()
os.write(1, b'%d\\n' % os.getpid())
signal.pause()
"""


async def test_sigterm_kills_everything(start_program, is_alive):
    process = await start_program(DAEMON)
    pids = [await process.stdout.readline() for _ in range(2)]

    process.terminate()
    await process.communicate()

    assert [is_alive(pid) for pid in pids] == [False, False]


async def test_end_of_the_parent_kills_everything(scratch):
    """A process descriptor becomes readable when its process has ended."""
    line = watched_command(
        [sys.executable, "-I", "-S", "-c", DAEMON],
        scratch=scratch,
        limits=ProcessLimits(),
        environment=os.environ,
        confinement=Confinement(),
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", f"import subprocess; subprocess.run({line!r})", stdout=PIPE
    )
    descriptors = [os.pidfd_open(int(await parent.stdout.readline())) for _ in range(2)]

    parent.send_signal(signal.SIGKILL)
    await parent.communicate()

    loop = asyncio.get_running_loop()
    for descriptor in descriptors:
        ended = asyncio.Event()
        loop.add_reader(descriptor, ended.set)
        await asyncio.wait_for(ended.wait(), 30)
        loop.remove_reader(descriptor)
        os.close(descriptor)
