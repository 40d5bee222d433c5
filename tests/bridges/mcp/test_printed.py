import asyncio

import structlog

from nexus_tools.bridges.mcp.stdio import OutputReader
from nexus_tools.bridges.redaction import Redaction


async def read(text, name="weather"):
    stream = asyncio.StreamReader()
    stream.feed_data(text)
    stream.feed_eof()
    reader = OutputReader(name, Redaction())
    with structlog.testing.capture_logs() as log:
        await reader.read(stream)
    return reader, log


async def test_tail_keeps_the_end():
    reader, _ = await read(b"a" * 10_000 + b"the end\n")
    assert len(reader.tail()) == 4_095
    assert reader.tail().endswith("the end")
    assert reader.whole.is_set()


async def test_log_has_at_most_64_kib():
    _, log = await read(b"x" * 99 + b"\n" + b"y" * 200_000)
    assert sum(len(entry["line"]) for entry in log if "line" in entry) == 64 * 1024 - 1
    assert log[-1]["event"] == "server_output_truncated"


async def test_log_is_empty_without_a_name():
    reader, log = await read(b"hello", name=None)
    assert log == []
    assert reader.tail() == "hello"


async def test_tail_omits_bytes_that_are_not_text():
    reader, _ = await read(b"\xff\0hello")
    assert reader.tail() == "\ufffdhello"
