"""The TCP proxy of the benchmarks."""

import asyncio

import pytest

from benchmarks.proxy import Proxy

pytestmark = pytest.mark.anyio


async def echo(reader, writer):
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


async def test_proxy_forwards_to_a_unix_socket_until_it_resets_the_connection(tmp_path):
    socket = tmp_path / "socket"
    async with (
        asyncio.timeout(30),
        await asyncio.start_unix_server(echo, socket),
        Proxy(socket).running() as proxy,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"text")
        assert await reader.readexactly(4) == b"text"
        proxy.reset()
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()
