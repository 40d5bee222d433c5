import asyncio
import socket
import threading
from contextlib import closing
from ipaddress import ip_network

import pytest

from nexus_tools.http.address_guard import AddressGuard
from nexus_tools.http.guarded_client import (
    NoResponseError,
    SystemResolver,
    exchange,
    guarded_client,
)

pytestmark = pytest.mark.anyio

LOOPBACK = (ip_network("127.0.0.0/8"),)
TIMEOUT_S = 20


def resolver_of(*addresses):
    resolved_hosts = []

    async def resolve(host):
        resolved_hosts.append(host)
        return addresses

    return resolve, resolved_hosts


async def get(url, guard, resolve):
    async with guarded_client(guard, resolve, max_connections=4) as client:
        return await exchange(client, "GET", url, max_response_bytes=1000)


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"]
)
async def test_client_refuses_a_name_that_resolves_to_a_private_address(
    serve_bytes, respond, address
):
    server = await serve_bytes(respond())
    port = server.url.rsplit(":", 1)[1]
    resolve, resolved_hosts = resolver_of(address)
    with pytest.raises(NoResponseError):
        await get(f"http://rebinding.example:{port}/", AddressGuard(http=True), resolve)
    assert resolved_hosts == ["rebinding.example"]
    assert server.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1"])
async def test_client_refuses_a_literal_loopback_address(serve_bytes, respond, host):
    server = await serve_bytes(respond())
    port = server.url.rsplit(":", 1)[1]
    resolve, _ = resolver_of("127.0.0.1")
    with pytest.raises(NoResponseError):
        await get(f"http://{host}:{port}/", AddressGuard(http=True), resolve)
    assert server.requests == []


async def test_connection_uses_the_resolved_address_and_the_host_name(serve_bytes, respond):
    server = await serve_bytes(respond(body=b"{}"))
    port = server.url.rsplit(":", 1)[1]
    resolve, resolved_hosts = resolver_of("127.0.0.1")
    guard = AddressGuard(networks=LOOPBACK, http=True)
    response = await get(f"http://tools.example:{port}/meta", guard, resolve)
    assert response.body == b"{}"
    assert resolved_hosts == ["tools.example"]
    head, _ = server.requests[0]
    assert f"host: tools.example:{port}\r\n" in head.lower()


async def test_name_is_resolved_once_per_connection(serve_bytes, respond):
    server = await serve_bytes(respond(body=b"{}"))
    port = server.url.rsplit(":", 1)[1]
    resolved = [["127.0.0.1"], ["10.0.0.1"]]

    async def changing(_):
        return resolved.pop(0)

    guard = AddressGuard(networks=LOOPBACK, http=True)
    await get(f"http://tools.example:{port}/", guard, changing)
    assert len(resolved) == 1


async def test_tls_uses_the_host_of_the_url(make_certificate):
    certificate = make_certificate("tools.example")
    names = []
    context = certificate.server_context()
    context.sni_callback = lambda _socket, name, _context: names.append(name)

    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        resolve, _ = resolver_of("127.0.0.1")
        guard = AddressGuard(networks=LOOPBACK)
        tls = certificate.client_context()
        async with guarded_client(guard, resolve, max_connections=1, tls=tls) as client:
            url = f"https://tools.example:{port}/"
            response = await exchange(client, "GET", url, max_response_bytes=100)
            assert response.status == 200
            assert names == ["tools.example"]
            url = f"https://other.example:{port}/"
            with pytest.raises(NoResponseError, match="certificate"):
                await exchange(client, "GET", url, max_response_bytes=100)


@pytest.mark.parametrize("host", ["a..example", "a" * 64 + ".example", ".example"])
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_unresolvable_host_gives_no_response(scheme, host):
    system = SystemResolver()
    guard = AddressGuard(networks=LOOPBACK, http=True)
    with closing(system), pytest.raises(NoResponseError):
        await get(f"{scheme}://{host}:1/", guard, system)


async def test_environment_proxy_is_not_used(serve_bytes, respond, monkeypatch):
    proxy = await serve_bytes(respond())
    server = await serve_bytes(respond(body=b"{}"))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("ALL_PROXY", proxy.url)
    resolve, _ = resolver_of()
    response = await get(server.url, AddressGuard(networks=LOOPBACK, http=True), resolve)
    assert response.status == 200
    assert proxy.requests == []


async def test_redirect_is_not_followed(serve_bytes, respond):
    target = await serve_bytes(respond(body=b"secret"))
    server = await serve_bytes(respond(302, headers=[f"Location: {target.url}/"]))
    resolve, _ = resolver_of()
    response = await get(server.url, AddressGuard(networks=LOOPBACK, http=True), resolve)
    assert response.status == 302
    assert target.requests == []


async def test_cookies_are_not_kept(serve_bytes, respond, http_client):
    server = await serve_bytes(respond(body=b"{}", headers=["Set-Cookie: a=b"]))
    for _ in range(2):
        await exchange(http_client, "GET", server.url, max_response_bytes=100)
    assert all("cookie" not in head.lower() for head, _ in server.requests)


async def test_hanging_lookups_leave_threads_for_other_names(monkeypatch):
    """This holds even after the callers were cancelled: a hanging thread cannot be stopped."""
    hanging, end = threading.Semaphore(0), threading.Event()
    genuine = socket.getaddrinfo

    def getaddrinfo(host, *arguments, **options):
        if host != "hangs.example":
            return genuine("127.0.0.1", *arguments, **options)
        hanging.release()
        end.wait(TIMEOUT_S)
        raise OSError("nobody knows")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    resolver = SystemResolver()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            for _ in range(2):
                asking = [asyncio.create_task(resolver("hangs.example")) for _ in range(100)]
                await asyncio.sleep(0)
                assert await resolver("good.example") == ["127.0.0.1"]
                for task in asking:
                    task.cancel()
        assert hanging.acquire(timeout=TIMEOUT_S)
    finally:
        end.set()
        resolver.close()
