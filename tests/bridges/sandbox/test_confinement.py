"""The access rights of a program, and the behaviour on systems that cannot confine."""

import errno
import os
import socket
import struct
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges import BridgeHost
from nexus_tools.bridges.sandbox import Confinement, ProcessLimits, run
from nexus_tools.bridges.sandbox.watch import confine, landlock, seccomp
from nexus_tools.errors import UsageError

READ = "import sys; print(open(sys.argv[1]).read(), end='')"
WRITE = "import sys; open(sys.argv[1], 'w').write('changed'); print('done')"


@pytest.fixture
def outside_file(tmp_path):
    """Return a file that no program may access."""
    file = tmp_path / "outside" / "file"
    file.parent.mkdir()
    file.write_text("text")
    return file


async def test_unlisted_file_cannot_be_read(run_python, outside_file):
    make_result = await run_python(READ, str(outside_file))

    assert make_result.stdout == b""
    assert b"PermissionError" in make_result.stderr


async def test_readable_folder_cannot_be_changed(run_python, outside_file):
    confinement = Confinement().reading(outside_file.parent)

    read = await run_python(READ, str(outside_file), confinement=confinement)
    changed = await run_python(WRITE, str(outside_file), confinement=confinement)

    assert read.stdout == b"text"
    assert b"PermissionError" in changed.stderr or b"Read-only" in changed.stderr
    assert outside_file.read_text() == "text"


async def test_single_file_can_be_allowed(run_python, outside_file):
    (outside_file.parent / "other").write_text("other")
    confinement = Confinement().reading(outside_file)

    read = await run_python(READ, str(outside_file), confinement=confinement)
    other = await run_python(READ, str(outside_file.parent / "other"), confinement=confinement)

    assert (read.stdout, other.stdout) == (b"text", b"")


@pytest.mark.parametrize("how", ["writes", "workspace"])
async def test_writes_to_a_writable_folder_persist(run_python, outside_file, how):
    result = (
        {"writes": (outside_file.parent,)}
        if how == "writes"
        else {"workspace": outside_file.parent}
    )

    make_result = await run_python(WRITE, str(outside_file), confinement=Confinement(**result))

    assert (make_result.stdout, outside_file.read_text()) == (b"done\n", "changed")


async def test_link_in_the_workspace_does_not_escape(run_python, outside_file, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(outside_file)
    confinement = Confinement(workspace=workspace)

    make_result = await run_python(READ, str(workspace / "link"), confinement=confinement)

    assert b"PermissionError" in make_result.stderr


CONNECT = """
import socket, sys
for port in sys.argv[1:]:
    try: socket.create_connection(("127.0.0.1", int(port)), 5); print("connected")
    except PermissionError: print("refused")
"""


async def test_only_listed_ports_are_reachable(run_python):
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        ports = [each.getsockname()[1] for each in (one, two)]
        confinement = Confinement().connecting(ports[0])
        make_result = await run_python(CONNECT, *map(str, ports), confinement=confinement)

    assert make_result.stdout.split() == [b"connected", b"refused"]


async def test_outside_modes_can_change_only_without_mounts(run_python, outside_file, may_mount):
    code = f"import os; os.chmod({str(outside_file)!r}, 0o777)"
    before = outside_file.stat().st_mode
    confinement = Confinement().reading(outside_file)

    make_result = await run_python(code, confinement=confinement)

    is_changed = outside_file.stat().st_mode != before
    assert is_changed is not may_mount()
    assert confinement.changes_modes is is_changed
    assert (b"Read-only file system" in make_result.stderr) is not is_changed


async def test_semaphores_and_queues_are_private_or_unavailable(run_python, scratch, may_mount):
    code = """
import multiprocessing, os
with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, 2]))
open("/dev/shm/mine", "w").close()
"""
    make_result = await run_python(code)

    if may_mount():
        assert (make_result.stdout, make_result.exit_code) == (b"[1, 2]\n", 0)
        assert [each.name for each in scratch.shared_memory.iterdir()] == ["mine"]
    else:
        assert b"PermissionError" in make_result.stderr
        assert list(scratch.shared_memory.iterdir()) == []


async def test_root_keeps_only_file_capabilities(run_python):
    """Bits of capabilities(7): CAP_CHOWN 0, CAP_DAC_OVERRIDE 1, CAP_FOWNER 3."""
    code = "print(*(l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')))"

    make_result = await run_python(code)

    assert int(make_result.stdout, 16) & ~0b1011 == 0


async def test_tcp_fast_open_does_not_bypass_the_ports(run_python):
    """MSG_FASTOPEN connects in `sendto`, which Landlock does not check."""
    code = """
import socket, sys
try: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", int(sys.argv[1])))
except PermissionError: print("refused")
"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        make_result = await run_python(code, port, confinement=Confinement(ports=(1,)))

    assert make_result.stdout == b"refused\n"


async def test_unconfined_program_has_the_rights_of_its_user(run_python, outside_file):
    make_result = await run_python(READ, str(outside_file), confinement=Confinement(is_on=False))

    assert make_result.stdout == b"text"


# --- Systems that cannot confine


async def test_unconfinable_kernel_runs_nothing(run_python, monkeypatch):
    monkeypatch.setattr(confine, "is_supported", lambda: False)

    with pytest.raises(UsageError) as caught:
        await run_python("print(1)")

    assert caught.value.code == "confinement_unavailable"
    assert "--no-confinement" in caught.value.hint


async def test_kernel_without_port_rules_allows_no_ports(run_python, monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 3)

    with pytest.raises(UsageError) as caught:
        await run_python("print(1)", confinement=Confinement(ports=(443,)))

    assert caught.value.code == "confinement_unavailable"


async def test_npm_program_may_read_neighbouring_packages(scratch, tmp_path):
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

    make_result = await run(
        [str(link)],
        scratch=scratch,
        environment={"PATH": os.defpath},
        limits=ProcessLimits(time_ms=30_000),
        confinement=Confinement(),
    )

    assert make_result.stdout == b"text"


def test_tool_must_not_contain_the_operators_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    host = BridgeHost(Path(sys.executable), tmp_path, tmp_path, environment={})

    with pytest.raises(UsageError) as caught:
        host.confined(tmp_path / "home")

    assert caught.value.code == "path_too_broad"


# --- The filter of system calls, interpreted like by the kernel


def answer(program, mark, number, *arguments):
    """Return the result of a classic BPF program for a call; see bpf(4) of the BSDs."""
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
# The numbers come from the kernel's own tables: syscall_64.tbl and asm-generic/unistd.h.
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
def test_filter_decides_alike_on_both_architectures(mark, number, arguments, expected):
    machine = "aarch64" if mark == AARCH64 else "x86_64"
    program = seccomp.program_for(machine, with_tcp=False)

    result = answer(program, mark, number, *arguments)

    assert result == (expected if expected == ALLOWED else 0x00050000 | expected)


@pytest.mark.parametrize(
    ("arguments", "is_allowed"),
    [((2, 1, 0), True), ((10, 1 | 0o2000000, 6), True), ((2, 2, 17), False), ((2, 1, 262), False)],
)
def test_sockets_are_only_tcp_when_a_port_is_allowed(arguments, is_allowed):
    result = answer(seccomp.program_for("x86_64", with_tcp=True), X86_64, 41, *arguments)

    assert (result == ALLOWED) is is_allowed


def test_this_machine_supports_confinement():
    assert confine.is_supported()
    assert os.uname().machine in ("x86_64", "aarch64")
