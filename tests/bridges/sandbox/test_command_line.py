"""A long-lived program under the watch, as somebody else starts it."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE

import pytest

from nexus_tools.bridges.sandbox import Confinement, ProcessLimits, launcher


@pytest.fixture
def start(scratch):
    """Starts Python code by the launcher's command line, with pipes."""

    async def start(code, **limits):
        line = launcher(
            [sys.executable, "-I", "-S", "-c", code],
            scratch=scratch,
            limits=ProcessLimits(**limits),
            environment=os.environ,
            confinement=Confinement(),
        )
        return await asyncio.create_subprocess_exec(*line, stdin=PIPE, stdout=PIPE, stderr=PIPE)

    return start


async def test_standard_streams_pass_through_both_ways(start):
    process = await start("for line in iter(input, 'end'): print(line.upper(), flush=True)")

    process.stdin.write(b"one\n")
    first = await process.stdout.readline()
    process.stdin.write(b"two\nend\n")
    second = await process.stdout.readline()

    assert (first, second, await process.wait()) == (b"ONE\n", b"TWO\n", 0)


async def test_neither_time_nor_output_is_bounded(start):
    process = await start("input(); print('x' * 5000)", time_ms=1, output_bytes=1)

    output, errors = await process.communicate(b"\n")

    assert (len(output), errors, process.returncode) == (5001, b"", 0)


@pytest.mark.parametrize(
    ("statement", "exit_code"),
    [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 15)", 128 + 15)],
)
async def test_it_ends_as_the_program_ends(start, statement, exit_code):
    process = await start(statement)

    await process.communicate()

    assert process.returncode == exit_code


async def test_a_bound_that_is_passed_ends_it_with_a_word(start, scratch, left_of):
    process = await start(
        "import os, signal\nfor _ in range(9): os.fork() or signal.pause()\nsignal.pause()",
        processes=3,
    )

    _, errors = await process.communicate()

    assert (process.returncode, left_of(scratch)) == (124, [])
    assert errors.startswith(b"nexus_tools: limit processes: ")


async def test_a_program_that_is_not_there_is_told(scratch):
    line = launcher(
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


async def test_when_it_is_told_to_stop_everything_dies(start, is_alive):
    process = await start(DAEMON)
    pids = [await process.stdout.readline() for _ in range(2)]

    process.terminate()
    await process.communicate()

    assert [is_alive(pid) for pid in pids] == [False, False]


async def test_when_its_parent_dies_everything_dies(scratch):
    """A process descriptor becomes readable when its process has ended."""
    line = launcher(
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
