"""Every bound stops a run that passes it, and is told by its name."""

import pytest

from nexus_tools.bridges.sandbox import Confinement, Limit

MIB = 2**20

FLOOD = "while True: os.write({}, b'x' * 65536)"


@pytest.fixture(autouse=True)
def _nothing_is_left(scratch, left_of):
    yield
    assert left_of(scratch) == []


async def test_a_run_that_sleeps_for_ever_is_stopped_for_time(run_python):
    finished = await run_python(
        "import signal; print('began', flush=True); signal.pause()", limits={"time_ms": 1000}
    )

    assert (finished.limit, finished.exit_code) == (Limit.TIME, None)
    assert finished.stdout == b"began\n"
    assert finished.elapsed_ms >= 1000


async def test_a_run_that_computes_for_ever_is_stopped_for_time(run_python):
    finished = await run_python("while True: pass", limits={"time_ms": 200})

    assert finished.limit is Limit.TIME


async def test_a_run_that_ignores_the_signals_it_can_is_stopped_for_time(run_python):
    code = """
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True: signal.pause()
"""
    finished = await run_python(code, limits={"time_ms": 200})

    assert finished.limit is Limit.TIME


async def test_a_run_that_halts_itself_is_stopped_for_time(run_python):
    finished = await run_python(
        "import os, signal; os.kill(0, signal.SIGSTOP)", limits={"time_ms": 200}
    )

    assert finished.limit is Limit.TIME


async def test_a_run_that_closes_its_streams_and_stays_is_stopped_for_time(run_python):
    finished = await run_python(
        "import os, signal; os.closerange(0, 100); signal.pause()",
        limits={"time_ms": 200},
        input=b"x" * MIB,
        takes_reply=True,
    )

    assert (finished.limit, finished.reply) == (Limit.TIME, None)


async def test_memory_taken_step_by_step_is_stopped(run_python):
    finished = await run_python(
        "held = []\nwhile True: held.append(bytearray(b'x' * 2**20))",
        limits={"memory_bytes": 64 * MIB},
    )

    assert (finished.limit, finished.exit_code) == (Limit.MEMORY, None)


async def test_memory_is_counted_over_all_processes(run_python):
    """Six of 40 MiB each, none of which is above the bound."""
    code = """
import os, signal
for _ in range(6):
    if not os.fork():
        held = bytearray(b'x' * 40 * 2**20)
        signal.pause()
signal.pause()
"""
    finished = await run_python(code, limits={"memory_bytes": 160 * MIB})

    assert finished.limit is Limit.MEMORY


async def test_memory_asked_for_at_once_is_refused_to_the_program(run_python):
    finished = await run_python("bytearray(2**30)", limits={"memory_bytes": 64 * MIB})

    assert (finished.limit, finished.exit_code) == (None, 1)
    assert finished.stderr.endswith(b"MemoryError\n")


@pytest.mark.parametrize("descriptor", [1, 2, 3], ids=["stdout", "stderr", "reply"])
async def test_a_flood_is_stopped_and_what_fits_is_kept(run_python, descriptor):
    finished = await run_python(
        f"import os\n{FLOOD.format(descriptor)}", limits={"output_bytes": 10_000}, takes_reply=True
    )

    kept = [finished.stdout, finished.stderr, finished.reply or b""]
    assert finished.limit is Limit.OUTPUT
    assert [len(each) for each in kept] == [10_000 * (each == descriptor) for each in (1, 2, 3)]


async def test_output_is_counted_over_all_pipes(run_python):
    finished = await run_python(
        "import os; [os.write(each, b'x' * 400) for each in (1, 2, 3)]",
        limits={"output_bytes": 1000},
        takes_reply=True,
    )

    kept = [finished.stdout, finished.stderr, finished.reply or b""]
    assert finished.limit is Limit.OUTPUT
    assert sum(map(len, kept)) == 1000


async def test_as_much_output_as_is_allowed_is_no_fault(run_python):
    finished = await run_python("print('x' * 999)", limits={"output_bytes": 1000})

    assert (finished.limit, finished.exit_code, len(finished.stdout)) == (None, 0, 1000)


async def test_one_file_that_is_too_large_is_stopped(run_python):
    """Python does not die of SIGXFSZ; the program sees an error, and cannot hide what it did."""
    code = """
try:
    with open('big', 'wb', 0) as file:
        while True: file.write(b'x' * 65536)
except OSError:
    pass
"""
    finished = await run_python(code, limits={"disk_bytes": MIB})

    assert (finished.limit, finished.exit_code) == (Limit.DISK, None)


async def test_a_program_that_the_kernel_stops_for_a_file_is_stopped_for_disk(run_python, tmp_path):
    """The file is elsewhere, where nobody measures: it is the signal that tells."""
    code = f"""
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open({str(tmp_path / "big")!r}, 'wb', 0) as big:
    while True: big.write(b'x' * 2**20)
"""
    confinement = Confinement().writing(tmp_path)
    finished = await run_python(code, limits={"disk_bytes": MIB}, confinement=confinement)

    assert finished.limit is Limit.DISK


async def test_bytes_are_counted_over_all_files(run_python):
    code = """
import signal
for number in range(20): open(str(number), 'wb').write(b'x' * 2**17)
signal.pause()
"""
    finished = await run_python(code, limits={"disk_bytes": MIB})

    assert finished.limit is Limit.DISK


async def test_a_hundred_thousand_small_files_are_stopped(run_python):
    finished = await run_python(
        "for number in range(100_000): open(str(number), 'w').close()", limits={"files": 500}
    )

    assert finished.limit is Limit.DISK


async def test_files_in_a_folder_that_was_shut_count_as_well(run_python):
    code = """
import os
os.mkdir('shut')
for number in range(600): open(f'shut/{number}', 'w').close()
os.chmod('shut', 0)
"""
    finished = await run_python(code, limits={"files": 500})

    assert finished.limit is Limit.DISK


async def test_a_tree_deeper_than_a_path_can_name_is_stopped(run_python):
    code = """
import os
for _ in range(30):
    os.mkdir('d' * 200); os.chdir('d' * 200)
"""
    finished = await run_python(code)

    assert finished.limit is Limit.DISK


async def test_more_processes_than_allowed_are_stopped(run_python):
    code = "import os, signal\nfor _ in range(30): os.fork() or signal.pause()\nsignal.pause()"

    finished = await run_python(code, limits={"processes": 20})

    assert finished.limit is Limit.PROCESSES


async def test_as_many_processes_as_allowed_are_no_fault(run_python):
    code = """
import os
pids = [os.fork() or os._exit(0) for _ in range(19)]
print(sum(os.waitpid(pid, 0)[1] == 0 for pid in pids))
"""
    finished = await run_python(code, limits={"processes": 20})

    assert (finished.limit, finished.stdout) == (None, b"19\n")


async def test_a_run_after_one_that_was_stopped_is_as_any(run_python):
    await run_python("while True: pass", limits={"time_ms": 50})

    finished = await run_python("print('well')")

    assert (finished.limit, finished.stdout) == (None, b"well\n")
