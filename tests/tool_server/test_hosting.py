import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from time import time

import httpx
import pytest
import structlog

from nexus_tools.errors import UsageError
from nexus_tools.tool import Identity, KnownKeys, SigningKey, sign_request
from nexus_tools.tool_server import MemoryNonceStore, SignaturePolicy, ToolServer, run, serving
from nexus_tools.tool_server.testing import client

PROGRAM = """
import sys
from pathlib import Path
from nexus_tools.tool_server import load, run
paths = [Path(name) for name in sys.argv[2:]]
tls = dict(zip(("tls_certificate", "tls_key"), paths))
run(load(sys.argv[1]), port=0, on_ready=lambda url: print(url, flush=True), **tls)
"""


@pytest.fixture(autouse=True)
def logs_as_before():
    """Reset the logging that `run` configures for its process."""
    yield
    structlog.reset_defaults()


@contextmanager
def _serve_process(target, *files):
    """Yield a server process and its URL, and stop the process at the end."""
    command = [sys.executable, "-c", PROGRAM, target, *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_server_responds_and_stops_on_signal(examples_path, stop):
    with _serve_process(str(examples_path)) as (process, url):
        answer = httpx.post(f"{url}/divide/invoke", json={"dividend": 7, "divisor": 2})
        assert answer.json() == {"ok": {"quotient": 3, "remainder": 1}}
        process.send_signal(stop)
        assert process.wait() == 0


def test_oversized_body_is_rejected_on_a_socket(examples_path):
    with _serve_process(str(examples_path)) as (_, url):
        address = url.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1])), timeout=60) as connection:
            connection.sendall(
                b"POST /divide/invoke HTTP/1.1\r\nhost: localhost\r\n"
                b"content-type: application/json\r\ncontent-length: 11000000\r\n\r\n{"
            )
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_server_uses_tls_with_a_certificate(examples_path, make_certificate):
    made = make_certificate("127.0.0.1")
    with _serve_process(str(examples_path), made.certificate, made.key) as (_, url):
        assert url.startswith("https://")
        trusted = made.client_context()
        assert httpx.get(f"{url}/divide/health", verify=trusted).status_code == 200


def test_address_in_use_is_rejected(add):
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(UsageError) as caught,
    ):
        run(ToolServer([add]), port=listener.getsockname()[1])
    assert caught.value.code == "address_unavailable"


def test_tls_needs_both_files(add, tmp_path):
    with pytest.raises(UsageError) as caught:
        run(ToolServer([add]), port=0, tls_certificate=tmp_path / "cert.pem")
    assert caught.value.code == "tls_incomplete"


def test_tls_files_that_cannot_be_read_are_refused(add, tmp_path):
    with pytest.raises(UsageError) as caught:
        run(ToolServer([add]), port=0, tls_certificate=tmp_path / "a", tls_key=tmp_path / "b")
    assert caught.value.code == "tls_files_invalid"


EMBEDDED = """
import asyncio, sys
import nexus_tools.tool_server
late = {"uvicorn", "starlette", "structlog", "httpx"} & set(sys.modules)
assert not late, late
import httpx
from nexus_tools.tool_server import Variant, serving, tool

class Sum(Variant, name="ok"):
    result: int

@tool("xyz.example.math.add@1")
async def add(a: int, b: int) -> Sum:
    return Sum(result=a + b)

@tool("xyz.example.math.break@1")
async def broken(a: int) -> Sum:
    raise RuntimeError

async def main():
    async with serving(add, broken) as url, httpx.AsyncClient() as http:
        response = await http.post(f"{url}/add/invoke", json={"a": 2, "b": 40})
        assert response.json() == {"ok": {"result": 42}}
        assert (await http.post(f"{url}/break/invoke", json={"a": 1})).status_code == 500
        assert (await http.post(f"{url}/add/invoke", json={})).status_code == 422

asyncio.run(main())
"""


def test_tools_served_within_a_program_print_nothing_and_import_late():
    done = subprocess.run(
        [sys.executable, "-c", EMBEDDED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.anyio
async def test_definition_of_a_tool_served_within_a_program_has_its_url(add):
    async with serving(add) as url, httpx.AsyncClient() as http:
        assert (await http.get(f"{url}/meta")).json() == add.definition(
            f"{url}/{add.fqn}"
        ).as_json()


@pytest.mark.anyio
async def test_custom_server_is_served_within_a_program(add):
    server = ToolServer([add], public_url="https://tools.example.com")
    async with serving(server) as url, httpx.AsyncClient() as http:
        assert (await http.get(f"{url}/meta")).json()[
            "url"
        ] == f"https://tools.example.com/{add.fqn}"


@pytest.mark.anyio
async def test_dns_rebinding_page_cannot_call_tools(add):
    async with serving(add) as url, httpx.AsyncClient() as http:
        port = url.rpartition(":")[2]
        invoke = ("POST", f"{url}/invoke", {"a": 1, "b": 2})
        for method, place, ports in (invoke, ("GET", f"{url}/meta", None)):
            foreign = {"host": f"evil.example:{port}"}
            refused = await http.request(method, place, json=ports, headers=foreign)
            assert (refused.status_code, refused.json()["code"]) == (421, "host_not_allowed")
            assert "--public-url" in refused.json()["detail"]
            for host in ("127.0.0.1", "localhost", "[::1]"):
                local = {"host": f"{host}:{port}"}
                response = await http.request(method, place, json=ports, headers=local)
                assert response.status_code == 200


@pytest.mark.anyio
async def test_public_server_accepts_any_host_header(add):
    server = ToolServer([add], public_url="https://tools.example.com")
    server.set_root_url("http://127.0.0.1:8080")
    async with client(server) as http:
        response = await http.get("/meta", headers={"host": "tools.internal"})
    assert response.status_code == 200


def test_interrupted_server_finishes_running_invocations(tmp_path):
    program = """
import asyncio
from nexus_tools.tool_server import Variant, serve, tool

class Done(Variant, name="ok"):
    pass

@tool("xyz.example.test.slow@1")
async def slow() -> Done:
    print("running", flush=True)
    await asyncio.sleep(0.5)
    return Done()

serve(slow, port=int(__import__("sys").argv[1]))
"""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", program, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        with httpx.Client(transport=httpx.HTTPTransport(retries=0), timeout=30) as http:
            while True:
                try:
                    http.get(f"http://127.0.0.1:{port}/health")
                    break
                except httpx.ConnectError:
                    assert process.poll() is None
            http.close()
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(
                b"POST /invoke HTTP/1.1\r\nhost: localhost\r\n"
                b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
            )
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGTERM)
            response = b"".join(iter(lambda: connection.recv(4096), b""))
        assert response.startswith(b"HTTP/1.1 200 ")
        assert process.wait() == 0


@pytest.mark.anyio
async def test_signature_gate_uses_the_url_of_the_socket(add):
    server = ToolServer([add])
    leader, key = "0x" + "a" * 64, SigningKey.new()
    async with serving(server) as url, httpx.AsyncClient() as http:
        leaders = KnownKeys({leader: [key.public_key]})
        nonces = MemoryNonceStore(now=lambda: 0.0)
        server.use_signatures(SignaturePolicy("required", leaders, nonces=nonces))
        body = b'{"a":1,"b":2}'
        headers = {
            "content-type": "application/json",
            "nexus-invocation": "0xa1",
            "nexus-tool": str(add.fqn),
            "nexus-deadline": "2100-01-01T00:00:00Z",
            "nexus-max-outcome-bytes": "100",
        }
        unsigned = await http.post(f"{url}/invoke", content=body, headers=headers)
        headers |= sign_request(Identity(leader, key), f"{url}/invoke", headers, body, time())
        signed = await http.post(f"{url}/invoke", content=body, headers=headers)
    assert (unsigned.status_code, signed.status_code) == (401, 200)
