"""One run: its input, its output, and the report of its end."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges.sandbox import REPLY_DESCRIPTOR, ProcessLimits, run
from nexus_tools.bridges.sandbox.watch.process_tree import descendants
from nexus_tools.errors import NotFoundError, UsageError

WAIT = "import signal; signal.pause()"


async def test_output_and_exit_code_are_returned(run_python):
    make_result = await run_python("import sys; print(1); print(2, file=sys.stderr); sys.exit(3)")

    assert (make_result.stdout, make_result.stderr, make_result.exit_code) == (b"1\n", b"2\n", 3)
    assert (make_result.reply, make_result.limit) == (None, None)


async def test_killing_signal_is_a_negative_exit_code(run_python):
    make_result = await run_python("import os; os.abort()")

    assert make_result.exit_code == -signal.SIGABRT


async def test_input_is_read_completely(run_python):
    data = bytes(range(256)) * 4096

    make_result = await run_python(
        "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", input=data
    )

    assert make_result.stdout == data


async def test_standard_input_is_empty_by_default(run_python):
    make_result = await run_python("import sys; print(repr(sys.stdin.read()))")

    assert make_result.stdout == b"''\n"


async def test_unread_input_does_not_block(run_python):
    make_result = await run_python("print('done')", input=b"x" * 2**20)

    assert (make_result.stdout, make_result.exit_code) == (b"done\n", 0)


async def test_working_directory_is_in_the_scratch_directory(run_python, scratch):
    make_result = await run_python("import os; print(os.getcwd())")

    assert make_result.stdout.decode().strip() == str(scratch.work)


async def test_working_directory_can_be_set(run_python, tmp_path):
    make_result = await run_python("import os; print(os.getcwd())", directory=tmp_path)

    assert make_result.stdout.decode().strip() == str(tmp_path.resolve())


async def test_reply_is_read_from_its_descriptor(run_python):
    make_result = await run_python(
        f"import os; os.write({REPLY_DESCRIPTOR}, b'yes'); print('no')", takes_reply=True
    )

    assert (make_result.reply, make_result.stdout) == (b"yes", b"no\n")


async def test_output_is_delivered_as_it_arrives(run_python, scratch):
    """The program continues only when its first line has been read."""
    fifo = scratch.work / "go"
    os.mkfifo(fifo)
    chunks = []

    def on_stdout(data):
        chunks.append(data)
        if len(chunks) == 1:
            descriptor = os.open(fifo, os.O_RDWR)
            os.write(descriptor, b"go\n")
            chunks.append(descriptor)

    make_result = await run_python(
        "print('one', flush=True); open('go').readline(); print('two')", on_stdout=on_stdout
    )

    os.close(chunks.pop(1))
    assert chunks == [b"one\n", b"two\n"]
    assert make_result.stdout == b"one\ntwo\n"


async def test_exception_in_the_output_reader_ends_the_run(
    run_python, scratch, remaining_processes
):
    def on_stdout(_):
        raise KeyError("from the reader")

    with pytest.raises(KeyError, match="from the reader"):
        await run_python(f"print(1, flush=True); {WAIT}", on_stdout=on_stdout)

    assert remaining_processes(scratch) == []


async def test_concurrent_runs_are_separate(run_python):
    code = "import sys; print(sys.argv[1])"

    many = await asyncio.gather(*(run_python(code, str(number)) for number in range(8)))

    assert [result.stdout for result in many] == [f"{number}\n".encode() for number in range(8)]


async def test_no_signal_is_ignored_or_blocked(run_python):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        make_result = await run_python(
            "from signal import *; print(getsignal(1) == SIG_DFL, pthread_sigmask(0, ()))"
        )
    finally:
        signal.signal(signal.SIGHUP, before)

    assert make_result.stdout == b"True set()\n"


async def test_missing_program_is_named(scratch):
    with pytest.raises(NotFoundError, match="no-such-program") as caught:
        await run(["no-such-program"], scratch=scratch, environment={}, limits=ProcessLimits())

    assert caught.value.code == "program_not_found"


async def test_program_is_searched_in_its_own_path(scratch, tmp_path):
    program = tmp_path / "hello-from-path"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)

    make_result = await run(
        ["hello-from-path"],
        scratch=scratch,
        environment={"PATH": str(tmp_path)},
        limits=ProcessLimits(),
    )

    assert make_result.stdout == b"hello\n"


@pytest.mark.parametrize(
    "command",
    [["/bin/sh", "zero\0byte"], ["/bin/sh", "-c", "x" * 2**18], ["/etc"]],
    ids=["zero byte", "argument too long", "a folder"],
)
async def test_invalid_command_is_refused(scratch, command):
    with pytest.raises(UsageError) as caught:
        await run(command, scratch=scratch, environment={}, limits=ProcessLimits())

    assert caught.value.code == "program_not_started"


async def test_missing_directory_is_named(run_python, tmp_path):
    with pytest.raises(NotFoundError, match="nowhere") as caught:
        await run_python("", directory=tmp_path / "nowhere")

    assert caught.value.code == "directory_not_found"


async def test_environment_is_exactly_the_given_one(scratch, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "operator's")

    make_result = await run(
        ["/usr/bin/env"],
        scratch=scratch,
        environment={"ONE": "1", "TWO": "\udcff=2"},
        limits=ProcessLimits(),
    )

    assert make_result.stdout == b"ONE=1\nTWO=\xff=2\n"


async def test_no_descriptor_is_inherited(run_python, tmp_path):
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)

        make_result = await run_python("import os; print(os.listdir('/proc/self/fd'))")

    # The last descriptor is the one with which the folder is listed.
    assert make_result.stdout == b"['0', '1', '2', '3']\n"


async def test_reply_adds_one_descriptor(run_python):
    make_result = await run_python(
        "import os; print(os.listdir('/proc/self/fd'))", takes_reply=True
    )

    assert make_result.stdout == b"['0', '1', '2', '3', '4']\n"


async def test_runs_leave_no_open_descriptors(run_python, scratch):
    async def all_ways():
        await run_python("print(1)", input=b"x", takes_reply=True)
        await run_python(WAIT, limits={"time_ms": 1})
        with pytest.raises(NotFoundError):
            await run(["missing"], scratch=scratch, environment={}, limits=ProcessLimits())
        with pytest.raises(UsageError):
            await run(["a\0"], scratch=scratch, environment={}, limits=ProcessLimits(), input=b"x")

    def held():
        descriptors = list(Path("/proc/self/fd").iterdir())
        return len(descriptors), len(asyncio.all_tasks()), descendants(os.getpid())

    await all_ways()
    before = held()
    await all_ways()

    assert held() == before


async def test_cancelled_run_has_ended_when_the_cancellation_is_raised(
    run_python, scratch, remaining_processes
):
    output_seen = asyncio.Event()
    # The first process leads a group, so it cannot start a session.
    leave = "os.getpid() == first or os.setsid()"
    code = f"import os; first = os.getpid(); os.fork(); os.fork(); {leave}; print(1, flush=True)"
    running = run_python(f"{code}; {WAIT}", on_stdout=lambda _: output_seen.set())
    task = asyncio.create_task(running)
    await output_seen.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert remaining_processes(scratch) == []


async def test_run_cancelled_twice_has_ended(run_python, scratch, remaining_processes):
    output_seen = asyncio.Event()
    task = asyncio.create_task(
        run_python(f"print(1, flush=True); {WAIT}", on_stdout=lambda _: output_seen.set())
    )
    await output_seen.wait()

    task.cancel()
    asyncio.get_running_loop().call_soon(task.cancel)

    with pytest.raises(asyncio.CancelledError):
        await task
    assert remaining_processes(scratch) == []


async def test_end_of_the_server_kills_everything(tmp_path):
    """A process descriptor becomes readable when its process has ended."""
    tool = (
        "import os, signal\n"
        "if not os.fork(): os.setsid()\n"
        "os.write(1, b'%d\\n' % os.getpid()); signal.pause()"
    )
    server = f"""
import asyncio, os, sys
from pathlib import Path
from nexus_tools.bridges.sandbox import *
with ScratchDirectory(Path({str(tmp_path)!r})) as scratch:
    asyncio.run(run([sys.executable, "-I", "-S", "-c", {tool!r}], scratch=scratch,
        environment={{}}, limits=ProcessLimits(), on_stdout=lambda data: os.write(1, data)))
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", server, stdout=asyncio.subprocess.PIPE
    )
    pids = [int(await process.stdout.readline()) for _ in range(2)]
    descriptors = [os.pidfd_open(pid) for pid in pids]

    process.kill()
    await process.wait()

    for descriptor in descriptors:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, ended.set)
        await asyncio.wait_for(ended.wait(), 30)
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)


async def test_kernel_kills_the_run_before_the_server_when_memory_is_short(run_python):
    make_result = await run_python("print(open('/proc/self/oom_score_adj').read())")

    assert int(make_result.stdout) == 1000


async def test_repr_of_the_result_omits_the_output(run_python):
    make_result = await run_python("print('secret')")

    assert "secret" not in repr(make_result)
