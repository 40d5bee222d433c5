"""Every limit stops a run that exceeds it, and is reported by its name."""

import pytest

from nexus_tools.bridges.sandbox import Confinement, Limit

MIB = 2**20

FLOOD = "while True: os.write({}, b'x' * 65536)"


@pytest.fixture(autouse=True)
def _no_process_remains(scratch, remaining_processes):
    yield
    assert remaining_processes(scratch) == []


async def test_sleeping_run_hits_the_time_limit(run_python):
    make_result = await run_python(
        "import signal; print('began', flush=True); signal.pause()", limits={"time_ms": 1000}
    )

    assert (make_result.limit, make_result.exit_code) == (Limit.TIME, None)
    assert make_result.stdout == b"began\n"
    assert make_result.elapsed_ms >= 1000


async def test_busy_run_hits_the_time_limit(run_python):
    make_result = await run_python("while True: pass", limits={"time_ms": 200})

    assert make_result.limit is Limit.TIME


async def test_signal_ignoring_run_hits_the_time_limit(run_python):
    code = """
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True: signal.pause()
"""
    make_result = await run_python(code, limits={"time_ms": 200})

    assert make_result.limit is Limit.TIME


async def test_self_stopped_run_hits_the_time_limit(run_python):
    make_result = await run_python(
        "import os, signal; os.kill(0, signal.SIGSTOP)", limits={"time_ms": 200}
    )

    assert make_result.limit is Limit.TIME


async def test_run_without_streams_hits_the_time_limit(run_python):
    make_result = await run_python(
        "import os, signal; os.closerange(0, 100); signal.pause()",
        limits={"time_ms": 200},
        input=b"x" * MIB,
        takes_reply=True,
    )

    assert (make_result.limit, make_result.reply) == (Limit.TIME, None)


async def test_gradual_memory_use_is_stopped(run_python):
    make_result = await run_python(
        "held = []\nwhile True: held.append(bytearray(b'x' * 2**20))",
        limits={"memory_bytes": 64 * MIB},
    )

    assert (make_result.limit, make_result.exit_code) == (Limit.MEMORY, None)


async def test_memory_counts_over_all_processes(run_python):
    """Six processes of 40 MiB each, none of which exceeds the limit."""
    code = """
import os, signal
for _ in range(6):
    if not os.fork():
        held = bytearray(b'x' * 40 * 2**20)
        signal.pause()
signal.pause()
"""
    make_result = await run_python(code, limits={"memory_bytes": 160 * MIB})

    assert make_result.limit is Limit.MEMORY


async def test_huge_allocation_fails_in_the_program(run_python):
    make_result = await run_python("bytearray(2**30)", limits={"memory_bytes": 64 * MIB})

    assert (make_result.limit, make_result.exit_code) == (None, 1)
    assert make_result.stderr.endswith(b"MemoryError\n")


@pytest.mark.parametrize("descriptor", [1, 2, 3], ids=["stdout", "stderr", "reply"])
async def test_output_flood_is_stopped_and_cut(run_python, descriptor):
    make_result = await run_python(
        f"import os\n{FLOOD.format(descriptor)}", limits={"output_bytes": 10_000}, takes_reply=True
    )

    outputs = [make_result.stdout, make_result.stderr, make_result.reply or b""]
    assert make_result.limit is Limit.OUTPUT
    assert [len(output) for output in outputs] == [
        10_000 * (output == descriptor) for output in (1, 2, 3)
    ]


async def test_output_counts_over_all_pipes(run_python):
    make_result = await run_python(
        "import os; [os.write(each, b'x' * 400) for each in (1, 2, 3)]",
        limits={"output_bytes": 1000},
        takes_reply=True,
    )

    outputs = [make_result.stdout, make_result.stderr, make_result.reply or b""]
    assert make_result.limit is Limit.OUTPUT
    assert sum(map(len, outputs)) == 1000


async def test_output_at_the_limit_is_allowed(run_python):
    make_result = await run_python("print('x' * 999)", limits={"output_bytes": 1000})

    assert (make_result.limit, make_result.exit_code, len(make_result.stdout)) == (None, 0, 1000)


async def test_too_large_file_is_stopped(run_python):
    """Python ignores SIGXFSZ. The program sees an error, and cannot hide the file."""
    code = """
try:
    with open('big', 'wb', 0) as file:
        while True: file.write(b'x' * 65536)
except OSError:
    pass
"""
    make_result = await run_python(code, limits={"disk_bytes": MIB})

    assert (make_result.limit, make_result.exit_code) == (Limit.DISK, None)


async def test_file_stopped_by_the_kernel_counts_as_disk(run_python, tmp_path):
    """The file is outside of the measured directory, so only the signal shows the limit."""
    code = f"""
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open({str(tmp_path / "big")!r}, 'wb', 0) as big:
    while True: big.write(b'x' * 2**20)
"""
    confinement = Confinement().writing(tmp_path)
    make_result = await run_python(code, limits={"disk_bytes": MIB}, confinement=confinement)

    assert make_result.limit is Limit.DISK


async def test_bytes_count_over_all_files(run_python):
    code = """
import signal
for number in range(20): open(str(number), 'wb').write(b'x' * 2**17)
signal.pause()
"""
    make_result = await run_python(code, limits={"disk_bytes": MIB})

    assert make_result.limit is Limit.DISK


async def test_many_small_files_are_stopped(run_python):
    make_result = await run_python(
        "for number in range(100_000): open(str(number), 'w').close()", limits={"files": 500}
    )

    assert make_result.limit is Limit.DISK


async def test_files_in_an_inaccessible_folder_count(run_python):
    code = """
import os
os.mkdir('shut')
for number in range(600): open(f'shut/{number}', 'w').close()
os.chmod('shut', 0)
"""
    make_result = await run_python(code, limits={"files": 500})

    assert make_result.limit is Limit.DISK


async def test_tree_deeper_than_a_path_is_stopped(run_python):
    code = """
import os
for _ in range(30):
    os.mkdir('d' * 200); os.chdir('d' * 200)
"""
    make_result = await run_python(code)

    assert make_result.limit is Limit.DISK


async def test_too_many_processes_are_stopped(run_python):
    code = "import os, signal\nfor _ in range(30): os.fork() or signal.pause()\nsignal.pause()"

    make_result = await run_python(code, limits={"processes": 20})

    assert make_result.limit is Limit.PROCESSES


async def test_processes_at_the_limit_are_allowed(run_python):
    code = """
import os
pids = [os.fork() or os._exit(0) for _ in range(19)]
print(sum(os.waitpid(pid, 0)[1] == 0 for pid in pids))
"""
    make_result = await run_python(code, limits={"processes": 20})

    assert (make_result.limit, make_result.stdout) == (None, b"19\n")


async def test_run_after_a_stopped_run_works(run_python):
    await run_python("while True: pass", limits={"time_ms": 50})

    make_result = await run_python("print('well')")

    assert (make_result.limit, make_result.stdout) == (None, b"well\n")
