"""Calls to a module in a separate interpreter, and all ways in which they can fail."""

import pytest

from nexus_tools.bridges import BridgeHost
from nexus_tools.bridges.sandbox import Limit, ProcessLimits
from nexus_tools.bridges.worker import WorkerError, ask
from nexus_tools.errors import NotFoundError


async def test_returned_value_is_the_reply(call_module):
    reply = await call_module(
        "def reply(request): return [request['a'], (1, 2.5), None, 'ü']", {"a": {"b": True}}
    )

    assert reply.value == [{"b": True}, [1, 2.5], None, "ü"]
    assert reply.error is None


async def test_null_is_a_valid_reply(call_module):
    reply = await call_module("def reply(request): pass")

    assert (reply.value, reply.error) == (None, None)


async def test_output_of_any_kind_goes_to_the_log(call_module):
    code = """
import os, subprocess
print("at import")
def reply(request):
    os.write(1, b"by descriptor\\n")
    subprocess.run(["echo", "by a program"])
    print("last, without an end of line", end="")
    return "value"
"""
    reply = await call_module(code)

    assert reply.value == "value"
    assert reply.finished.log().split("\n") == [
        "at import",
        "by descriptor",
        "by a program",
        "last, without an end of line",
    ]


async def test_standard_input_is_empty(call_module):
    reply = await call_module(
        "import os, sys\ndef reply(_): return [sys.stdin.read(), os.read(0, 9).decode()]"
    )

    assert reply.value == ["", ""]


async def test_tool_cannot_import_our_modules(call_module):
    code = """
import importlib.util, sys
def reply(_):
    names = ["sandbox", "worker", "watch", "detached", "child", "json_text", "limits"]
    found = [name for name in names if importlib.util.find_spec(name)]
    return [found, [place for place in sys.path if "nexus" in place]]
"""
    reply = await call_module(code)

    assert reply.value == [[], []]


async def test_parent_packages_are_not_executed(call_module):
    code = """
import sys
def reply(_):
    return sorted(name for name in sys.modules
                  if name.startswith("nexus_tools") and hasattr(sys.modules[name], "__all__"))
"""
    reply = await call_module(code)

    assert reply.value == []


async def test_interpreter_is_isolated_and_leaves_no_bytecode(call_module):
    reply = await call_module(
        "import sys\ndef reply(_): return [sys.flags.isolated, sys.flags.dont_write_bytecode]"
    )

    assert reply.value == [1, 1]


async def test_exception_is_reported_with_class_and_message(call_module):
    reply = await call_module("def reply(request): return request['missing']")

    assert reply.value is None
    assert reply.error == WorkerError("KeyError", "'missing'")
    assert reply.error.traceback.endswith("KeyError: 'missing'\n")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("raise SystemExit('done')", WorkerError("SystemExit", "done")),
        ("import sys; sys.exit(0)", WorkerError("SystemExit", "0")),
        ("raise KeyboardInterrupt", WorkerError("KeyboardInterrupt", "")),
        ("raise MemoryError", WorkerError("MemoryError", "")),
        ("import not_there", WorkerError("ModuleNotFoundError", "No module named 'not_there'")),
    ],
)
@pytest.mark.parametrize("when", ["at import", "in the call"])
async def test_exceptions_of_every_kind_are_errors(call_module, statement, expected, when):
    code = statement if when == "at import" else f"def reply(_):\n    {statement}"

    reply = await call_module(code)

    assert reply.error == expected


async def test_module_with_a_syntax_error_is_an_error(call_module):
    reply = await call_module("def reply(")

    assert reply.error.type == "SyntaxError"


async def test_missing_module_is_an_error(call_module, interpreter, scratch, tmp_path):
    host = BridgeHost(interpreter[1], tmp_path, tmp_path, environment={})

    reply = await ask(
        host,
        "nexus_tools.bridges.nobody.child",
        {},
        scratch=scratch,
        limits=ProcessLimits(),
        environment={},
        confinement=host.confined(),
    )

    assert reply.error.type == "ModuleNotFoundError"


async def test_exception_without_a_readable_message_is_an_error(call_module):
    code = """
class Odd(Exception):
    def __str__(self): raise ValueError("never")
def reply(_): raise Odd
"""
    reply = await call_module(code)

    assert reply.error == WorkerError("Odd", "the message cannot be read (ValueError)")


async def test_endless_recursion_is_an_error(call_module):
    reply = await call_module("def reply(_): return reply(_)")

    assert reply.error.type == "RecursionError"


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("{'a/b': [1, {2}]}", "TypeError", "the reply at /a~1b/1 is a set, which is not a JSON"),
        ("object", "TypeError", "the reply is a type, which is not a JSON value"),
        ("{'a': b''}", "TypeError", "the reply at /a is a bytes, which is not a JSON value"),
        ("{'a': {1: 2}}", "TypeError", "a name in the reply at /a is a int, expected a string"),
        ("[float('nan')]", "ValueError", "the reply at /0 is nan, which is not a JSON number"),
        ("float('-inf')", "ValueError", "the reply is -inf, which is not a JSON number"),
        ("'\\ud800'", "ValueError", "the reply has a lone surrogate"),
        ("{'\\udfff': 1}", "ValueError", "the reply has a lone surrogate"),
    ],
)
async def test_non_json_value_is_reported_with_its_location(call_module, value, kind, message):
    reply = await call_module(f"def reply(_): return {value}")

    assert reply.error.type == kind
    assert reply.error.message.startswith(message)


@pytest.mark.parametrize("depth", [70, 100_000])
async def test_too_deeply_nested_value_is_an_error(call_module, depth):
    code = f"""
def reply(_):
    value = None
    for _ in range({depth}): value = [value]
    return value
"""
    reply = await call_module(code)

    assert reply.error == WorkerError(
        "ValueError", "the reply is nested deeper than 60 levels, or contains itself"
    )


async def test_self_containing_value_is_an_error(call_module):
    reply = await call_module("def reply(_):\n    a = {}\n    a['a'] = a\n    return a")

    assert reply.error.type == "ValueError"


async def test_number_with_too_many_digits_is_an_error(call_module):
    reply = await call_module("def reply(_): return 10 ** 5000")

    assert reply.error.type == "ValueError"


async def test_tool_that_exits_at_once_is_an_error_without_a_hang(call_module):
    reply = await call_module("import os\ndef reply(_): os._exit(7)")

    assert reply.error == WorkerError("NoReply", "the tool exited with code 7")
    assert reply.finished.exit_code == 7


async def test_killed_tool_is_reported_with_the_signal(call_module):
    reply = await call_module("import os\ndef reply(_): os.kill(os.getpid(), 11)")

    assert reply.error == WorkerError("NoReply", "the tool was killed by SIGSEGV")


async def test_sleeping_tool_is_stopped(call_module):
    reply = await call_module("import time\ndef reply(_): time.sleep(1000)", time_ms=500)

    assert reply.finished.limit is Limit.TIME
    assert reply.error.message == "the tool was stopped because it exceeded its time limit"


async def test_write_to_descriptor_three_does_not_change_the_reply(call_module):
    code = """
import os
def reply(_):
    try: os.write(3, b'{"value": "forged"}')
    except OSError as error: return error.strerror
"""
    reply = await call_module(code)

    assert reply.value == "Bad file descriptor"


async def test_child_programs_do_not_have_the_reply_descriptor(call_module):
    code = """
import subprocess, sys
LIST = "import os\\nfor n in range(1024):\\n try: os.fstat(n); print(n)\\n except OSError: pass"
def reply(_):
    command = [sys.executable, "-c", LIST]
    listed = subprocess.run(command, capture_output=True, close_fds=False)
    return listed.stdout.decode().split()
"""
    reply = await call_module(code)

    assert reply.value == ["0", "1", "2"]


@pytest.mark.parametrize("text", ['{"value": 1}', "no JSON", '{"value": 1, "more": 2}', "[]"])
async def test_forged_reply_is_an_error(call_module, text):
    code = f"""
import os
def reply(_):
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 3:
            try: os.write(int(name), {text.encode()!r})
            except OSError: pass
    return 1
"""
    reply = await call_module(code)

    assert reply.value is None
    assert reply.error.type == "BadReply"


async def test_forked_copy_of_a_tool_does_not_reply(call_module):
    code = """
import os
def reply(_):
    pid = os.fork()
    if pid: os.waitpid(pid, 0)
    return "parent" if pid else "child"
"""
    reply = await call_module(code)

    assert reply.value == "parent"


async def test_threads_and_exit_handlers_do_not_delay_the_reply(call_module):
    code = """
import atexit, threading
def reply(_):
    atexit.register(threading.Event().wait)
    threading.Thread(target=threading.Event().wait).start()
    return "responded"
"""
    reply = await call_module(code)

    assert (reply.value, reply.finished.limit) == ("responded", None)


async def test_tool_that_replaces_its_streams_still_replies(call_module):
    code = """
import os, sys
def reply(_):
    sys.stdout.close(); sys.stderr = None; os.closerange(0, 3)
    return "responded"
"""
    reply = await call_module(code)

    assert reply.value == "responded"


async def test_large_request_and_large_reply_are_supported(call_module):
    text = "x" * 2**20

    reply = await call_module("def reply(request): return request['text'] * 2", {"text": text})

    assert reply.value == text * 2


async def test_missing_interpreter_is_reported(scratch, tmp_path):
    host = BridgeHost(tmp_path / "python", tmp_path, tmp_path, environment={})

    with pytest.raises(NotFoundError) as caught:
        await ask(
            host,
            "asked",
            {},
            scratch=scratch,
            limits=ProcessLimits(),
            environment={},
            confinement=host.confined(),
        )

    assert caught.value.code == "program_not_found"
