"""A filter of system calls that Landlock does not cover and that a tool does not need.

The filter denies four groups of calls:

* Sockets other than TCP.
* Calls that reach other processes of the same user by a number (priorities, limits, System V IPC,
  keys).
* Calls that open namespaces.
* Calls that bypass Landlock or this filter (io_uring, fast open).

The filter is a classic BPF program over `struct seccomp_data`. The number of the call is at offset
0, the architecture is at offset 4, and six arguments of 8 bytes start at offset 16. See seccomp(2).

Worked example, the filter of `socketpair` (53 on x86-64), which may only create streams:

    load  [0]                 the number
    equal 53 or skip 6
    load  [24]                the low word of its second argument, the type
    and   0xf                 without SOCK_CLOEXEC and SOCK_NONBLOCK
    equal 1 skip 2            a stream
    equal 5 skip 1            a stream of packets
    return EACCES
    return allowed
"""

import errno
import os
import struct
from collections.abc import Iterable, Mapping

from nexus_tools.bridges.sandbox.watch import linux

_SET_SECCOMP = 22
_MODE_FILTER = 2

_LOAD = 0x20
_AND = 0x54
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_RETURN = 0x06
_ALLOWED = 0x7FFF0000
_REFUSED = 0x00050000

Instruction = tuple[int, int, int, int]
"""A BPF instruction: the operation, the jump offsets for true and for false, and the operand."""

_DENIED = (
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("unshare", "setns", "mount", "mount_setattr", "open_by_handle_at"),
    *("bpf", "perf_event_open", "userfaultfd", "add_key", "request_key", "keyctl"),
    *("shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
)
# Calls whose first argument is a process ID, or 0 for the caller.
_WITH_PROCESS = (
    *("prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"),
)
# Calls whose first argument is the kind of the ID in the second argument. The mapped number denotes
# a process ID.
_WITH_KIND = {"setpriority": 0, "ioprio_set": 1}
# For each call, the index of the argument with the flags.
_SENDING = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}

_FAST_OPEN = 0x20000000
_NEW_NAMESPACES = 0x7E020000
_KIND_OF_SOCKET = 0xF
_STREAM, _PACKETS = 1, 5
_UNSPECIFIED_PROTOCOL, _TCP = 0, 6
_INTERNET = (2, 10)

# The numbers of system calls on x86-64 and on AArch64.
_NUMBERS = """
    socket                41   198
    socketpair            53   199
    sendto                44   206
    sendmsg               46   211
    sendmmsg             307   269
    clone                 56   220
    clone3               435   435
    unshare              272    97
    setns                308   268
    prlimit64            302   261
    setpriority          141   140
    ioprio_set           251    30
    sched_setparam       142   118
    sched_setscheduler   144   119
    sched_setaffinity    203   122
    sched_setattr        314   274
    shmget                29   194
    shmat                 30   196
    shmctl                31   195
    semget                64   190
    semop                 65   193
    semctl                66   191
    semtimedop           220   192
    msgget                68   186
    msgsnd                69   189
    msgrcv                70   188
    msgctl                71   187
    mq_open              240   180
    mq_unlink            241   181
    add_key              248   217
    request_key          249   218
    keyctl               250   219
    io_uring_setup       425   425
    io_uring_enter       426   426
    io_uring_register    427   427
    userfaultfd          323   282
    bpf                  321   280
    perf_event_open      298   241
    open_by_handle_at    304   265
    mount                165    40
    mount_setattr        442   442
"""
# For each architecture, the kernel's AUDIT_ARCH value and the column in the table above.
_ARCHITECTURES = {"x86_64": (0xC000003E, 1), "aarch64": (0xC00000B7, 2)}
# On x86-64 the calls of the x32 ABI start at this number.
_OTHER_NUMBERS = 0x40000000


def is_supported() -> bool:
    """Return whether the system call numbers of this machine's processor are known."""
    return os.uname().machine in _ARCHITECTURES


def enforce(*, with_tcp: bool) -> None:
    """Deny the calls in this process and its children. `with_tcp` permits TCP sockets."""
    import ctypes  # noqa: PLC0415 - costs 5 ms

    program = program_for(os.uname().machine, with_tcp=with_tcp)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: a count and an aligned pointer.
    head = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    pointer = ctypes.create_string_buffer(head, len(head))
    linux.set_process(_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(pointer))


def program_for(machine: str, *, with_tcp: bool) -> list[Instruction]:
    """Return the filter for a processor, named as in `uname -m`."""
    mark, column = _ARCHITECTURES[machine]
    rows = [line.split() for line in _NUMBERS.split("\n") if line]
    return _program(mark, {row[0]: int(row[column]) for row in rows}, with_tcp=with_tcp)


def _program(mark: int, numbers: Mapping[str, int], *, with_tcp: bool) -> list[Instruction]:
    def of(name: str, *rule: Instruction) -> list[Instruction]:
        """Return the rule for a call. Arguments that the rule does not deny are allowed."""
        body = [*rule, (_RETURN, 0, 0, _ALLOWED)]
        return [(_EQUAL, 0, len(body), numbers[name]), *body]

    refused = _refuse(errno.EPERM)
    program = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, mark),
        _refuse(errno.ENOSYS),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _OTHER_NUMBERS),
        _refuse(errno.ENOSYS),
    ]
    for name in _DENIED:
        program += of(name, refused)
    for name in _WITH_PROCESS:
        program += of(name, *_require_one_of(0, (0,), refused))
    for name, kind in _WITH_KIND.items():
        program += of(
            name, *_require_one_of(0, (kind,), refused), *_require_one_of(1, (0,), refused)
        )
    for name, flags in _SENDING.items():
        program += of(name, _argument(flags), (_ANY_BIT, 0, 1, _FAST_OPEN), refused)
    program += of("clone", _argument(0), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), refused)
    # The filter cannot read the flags of `clone3`, which are behind a pointer. The C library falls
    # back to `clone`.
    program += of("clone3", _refuse(errno.ENOSYS))
    program += of(
        "socketpair", *_require_one_of(1, (_STREAM, _PACKETS), _no_access(), _KIND_OF_SOCKET)
    )
    program += of("socket", *(_only_tcp() if with_tcp else [_no_access()]))
    return [*program, (_RETURN, 0, 0, _ALLOWED)]


def _only_tcp() -> list[Instruction]:
    return [
        *_require_one_of(0, _INTERNET, _no_access()),
        *_require_one_of(1, (_STREAM,), _no_access(), _KIND_OF_SOCKET),
        *_require_one_of(2, (_UNSPECIFIED_PROTOCOL, _TCP), _no_access()),
    ]


def _require_one_of(
    index: int, values: Iterable[int], otherwise: Instruction, mask: int = 0xFFFFFFFF
) -> list[Instruction]:
    """Skip the instruction `otherwise` if the masked argument is one of these values."""
    allowed = tuple(values)
    tests = [(_EQUAL, len(allowed) - place, 0, value) for place, value in enumerate(allowed)]
    return [_argument(index), (_AND, 0, 0, mask), *tests, otherwise]


def _argument(index: int) -> Instruction:
    """Load the low word of an argument. Both architectures are little-endian."""
    return (_LOAD, 0, 0, 16 + 8 * index)


def _refuse(number: int) -> Instruction:
    return (_RETURN, 0, 0, _REFUSED | number)


def _no_access() -> Instruction:
    return _refuse(errno.EACCES)
