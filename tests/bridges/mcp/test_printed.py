import asyncio

import structlog

from nexus_tools.bridges.mcp.stdio import Printed
from nexus_tools.bridges.redaction import Redaction


async def read(text, name="weather"):
    stream = asyncio.StreamReader()
    stream.feed_data(text)
    stream.feed_eof()
    printed = Printed(name, Redaction())
    with structlog.testing.capture_logs() as log:
        await printed.read(stream)
    return printed, log


async def test_tail_keeps_the_end():
    printed, _ = await read(b"a" * 10_000 + b"the end\n")
    assert len(printed.tail()) == 4_095
    assert printed.tail().endswith("the end")
    assert printed.whole.is_set()


async def test_log_has_at_most_64_kib():
    _, log = await read(b"x" * 99 + b"\n" + b"y" * 200_000)
    assert sum(len(entry["line"]) for entry in log if "line" in entry) == 64 * 1024 - 1
    assert log[-1]["event"] == "server_prints_too_much"


async def test_log_is_empty_without_a_name():
    printed, log = await read(b"hello", name=None)
    assert log == []
    assert printed.tail() == "hello"


async def test_tail_omits_bytes_that_are_not_text():
    printed, _ = await read(b"\xff\0hello")
    assert printed.tail() == "\ufffdhello"
