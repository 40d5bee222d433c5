"""What a program may touch: what is opened to it, and what happens where nothing can be shut."""

import errno
import os
import socket
import struct
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges import Host
from nexus_tools.bridges.sandbox import Confinement, ProcessLimits, run
from nexus_tools.bridges.sandbox.watch import confine, landlock, seccomp
from nexus_tools.errors import UsageError

READ = "import sys; print(open(sys.argv[1]).read(), end='')"
WRITE = "import sys; open(sys.argv[1], 'w').write('changed'); print('done')"


@pytest.fixture
def outside(tmp_path):
    """A file that nobody has opened to a program."""
    file = tmp_path / "outside" / "file"
    file.parent.mkdir()
    file.write_text("text")
    return file


async def test_what_is_not_opened_cannot_be_read(run_python, outside):
    finished = await run_python(READ, str(outside))

    assert finished.stdout == b""
    assert b"PermissionError" in finished.stderr


async def test_a_folder_that_is_opened_can_be_read_and_not_changed(run_python, outside):
    confinement = Confinement().reading(outside.parent)

    read = await run_python(READ, str(outside), confinement=confinement)
    changed = await run_python(WRITE, str(outside), confinement=confinement)

    assert read.stdout == b"text"
    assert b"PermissionError" in changed.stderr or b"Read-only" in changed.stderr
    assert outside.read_text() == "text"


async def test_a_single_file_can_be_opened(run_python, outside):
    (outside.parent / "other").write_text("other")
    confinement = Confinement().reading(outside)

    read = await run_python(READ, str(outside), confinement=confinement)
    other = await run_python(READ, str(outside.parent / "other"), confinement=confinement)

    assert (read.stdout, other.stdout) == (b"text", b"")


@pytest.mark.parametrize("how", ["writes", "workspace"])
async def test_what_is_written_to_a_folder_that_is_opened_stays(run_python, outside, how):
    given = {"writes": (outside.parent,)} if how == "writes" else {"workspace": outside.parent}

    finished = await run_python(WRITE, str(outside), confinement=Confinement(**given))

    assert (finished.stdout, outside.read_text()) == (b"done\n", "changed")


async def test_a_link_in_the_workspace_leads_nowhere_else(run_python, outside, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(outside)
    confinement = Confinement(workspace=workspace)

    finished = await run_python(READ, str(workspace / "link"), confinement=confinement)

    assert b"PermissionError" in finished.stderr


CONNECT = """
import socket, sys
for port in sys.argv[1:]:
    try: socket.create_connection(("127.0.0.1", int(port)), 5); print("connected")
    except PermissionError: print("refused")
"""


async def test_a_port_is_opened_and_no_other(run_python):
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        ports = [each.getsockname()[1] for each in (one, two)]
        confinement = Confinement().connecting(ports[0])
        finished = await run_python(CONNECT, *map(str, ports), confinement=confinement)

    assert finished.stdout.split() == [b"connected", b"refused"]


async def test_modes_outside_can_be_changed_only_where_there_are_no_mounts_and_that_is_told(
    run_python, outside, may_mount
):
    code = f"import os; os.chmod({str(outside)!r}, 0o777)"
    before = outside.stat().st_mode
    confinement = Confinement().reading(outside)

    finished = await run_python(code, confinement=confinement)

    is_changed = outside.stat().st_mode != before
    assert is_changed is not may_mount()
    assert confinement.changes_modes is is_changed
    assert (b"Read-only file system" in finished.stderr) is not is_changed


async def test_semaphores_and_queues_of_processes_are_nobody_elses_or_not_there(
    run_python, scratch, may_mount
):
    code = """
import multiprocessing, os
with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, 2]))
open("/dev/shm/mine", "w").close()
"""
    finished = await run_python(code)

    if may_mount():
        assert (finished.stdout, finished.exit_code) == (b"[1, 2]\n", 0)
        assert [each.name for each in scratch.shared_memory.iterdir()] == ["mine"]
    else:
        assert b"PermissionError" in finished.stderr
        assert list(scratch.shared_memory.iterdir()) == []


async def test_root_keeps_no_more_than_what_files_need(run_python):
    """Bits of capabilities(7): CAP_CHOWN 0, CAP_DAC_OVERRIDE 1, CAP_FOWNER 3."""
    code = "print(*(l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')))"

    finished = await run_python(code)

    assert int(finished.stdout, 16) & ~0b1011 == 0


async def test_a_fast_open_does_not_pass_the_ports_by(run_python):
    """MSG_FASTOPEN connects in `sendto`, of which Landlock does not hear."""
    code = """
import socket, sys
try: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", int(sys.argv[1])))
except PermissionError: print("refused")
"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        finished = await run_python(code, port, confinement=Confinement(ports=(1,)))

    assert finished.stdout == b"refused\n"


async def test_without_confinement_a_program_may_do_what_its_user_may(run_python, outside):
    finished = await run_python(READ, str(outside), confinement=Confinement(is_on=False))

    assert finished.stdout == b"text"


# --- Where nothing can be shut


async def test_nothing_is_run_where_the_kernel_cannot_confine(run_python, monkeypatch):
    monkeypatch.setattr(confine, "is_there", lambda: False)

    with pytest.raises(UsageError) as caught:
        await run_python("print(1)")

    assert caught.value.code == "confinement_unavailable"
    assert "--no-confinement" in caught.value.hint


async def test_ports_are_not_opened_where_the_kernel_cannot_tell_them_apart(
    run_python, monkeypatch
):
    monkeypatch.setattr(landlock, "version", lambda: 3)

    with pytest.raises(UsageError) as caught:
        await run_python("print(1)", confinement=Confinement(ports=(443,)))

    assert caught.value.code == "confinement_unavailable"


async def test_a_program_of_npm_may_read_the_packages_beside_its_own(scratch, tmp_path):
    packages = tmp_path / "node_modules"
    program = packages / "server" / "main"
    other = packages / "other" / "text"
    for folder in (program.parent, other.parent, packages / ".bin"):
        folder.mkdir(parents=True)
    other.write_text("text")
    program.write_text(f"#!/bin/sh\ncat {other}\n")
    program.chmod(0o755)
    link = packages / ".bin" / "server"
    link.symlink_to("../server/main")

    finished = await run(
        [str(link)],
        scratch=scratch,
        environment={"PATH": os.defpath},
        limits=ProcessLimits(time_ms=30_000),
        confinement=Confinement(),
    )

    assert finished.stdout == b"text"


def test_a_tool_may_not_consist_of_the_operators_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    host = Host(Path(sys.executable), tmp_path, tmp_path, environment={})

    with pytest.raises(UsageError) as caught:
        host.confined(tmp_path / "home")

    assert caught.value.code == "place_too_wide"


# --- The filter of calls, run as the kernel runs it


def answer(program, mark, number, *arguments):
    """What classic BPF of these few operations returns for a call; see bpf(4) of the BSDs."""
    words = [0, *([0] * 5)]
    words[: len(arguments)] = arguments
    data = struct.pack("<iIQ6Q", number, mark, 0, *words)
    at = accumulator = 0
    while True:
        operation, if_so, if_not, operand = program[at]
        at += 1
        match operation:
            case 0x20:
                accumulator = struct.unpack_from("<I", data, operand)[0]
            case 0x54:
                accumulator &= operand
            case 0x15:
                at += if_so if accumulator == operand else if_not
            case 0x35:
                at += if_so if accumulator >= operand else if_not
            case 0x45:
                at += if_so if accumulator & operand else if_not
            case 0x06:
                return operand


ALLOWED = 0x7FFF0000
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
# The numbers are of the kernel's own tables: syscall_64.tbl and asm-generic/unistd.h.
CALLS = [
    (X86_64, 0, (), ALLOWED),
    (AARCH64, 63, (), ALLOWED),
    (X86_64, 41, (socket.AF_INET, 1, 6), errno.EACCES),
    (AARCH64, 198, (socket.AF_UNIX, 1, 0), errno.EACCES),
    (X86_64, 53, (socket.AF_UNIX, 1 | 0o2000000), ALLOWED),
    (X86_64, 53, (socket.AF_UNIX, 2), errno.EACCES),
    (X86_64, 56, (0x01200011,), ALLOWED),
    (X86_64, 56, (0x10000011,), errno.EPERM),
    (AARCH64, 220, (0x20000011,), errno.EPERM),
    (X86_64, 435, (), errno.ENOSYS),
    (X86_64, 425, (), errno.EPERM),
    (AARCH64, 425, (), errno.EPERM),
    (X86_64, 302, (0, 7), ALLOWED),
    (X86_64, 302, (4711, 7), errno.EPERM),
    (X86_64, 141, (0, 0), ALLOWED),
    (X86_64, 141, (2, 0), errno.EPERM),
    (X86_64, 0x40000029, (2, 1, 0), errno.ENOSYS),
    (0x40000003, 359, (2, 1, 0), errno.ENOSYS),
]


@pytest.mark.parametrize(("mark", "number", "arguments", "expected"), CALLS)
def test_a_call_is_judged_alike_on_either_architecture(mark, number, arguments, expected):
    machine = "aarch64" if mark == AARCH64 else "x86_64"
    program = seccomp.program_for(machine, with_tcp=False)

    given = answer(program, mark, number, *arguments)

    assert given == (expected if expected == ALLOWED else 0x00050000 | expected)


@pytest.mark.parametrize(
    ("arguments", "is_allowed"),
    [((2, 1, 0), True), ((10, 1 | 0o2000000, 6), True), ((2, 2, 17), False), ((2, 1, 262), False)],
)
def test_with_a_port_opened_sockets_are_of_tcp_alone(arguments, is_allowed):
    given = answer(seccomp.program_for("x86_64", with_tcp=True), X86_64, 41, *arguments)

    assert (given == ALLOWED) is is_allowed


def test_this_machine_is_confined():
    assert confine.is_there()
    assert os.uname().machine in ("x86_64", "aarch64")
