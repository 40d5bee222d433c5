"""A program that calls all tools of one system from a process with secrets.

    python calling.py SYSTEM PYTHON

It prints the results as JSON. It runs as one user or another, with a new folder as its home.
"""

import asyncio
import contextlib
import json
import os
import secrets
import socket
import sys
import tempfile
from pathlib import Path

import honest
import hostile
from systems import SYSTEMS

from nexus_tools.bridges import BridgeHost, Confinement, Naming, ProcessLimits, discover


async def page(_, writer):
    """Respond to any request."""
    body = b"a page\n"
    writer.write(b"HTTP/1.0 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    writer.close()


def main(system, python):
    with contextlib.ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        places = prepare(base, stack)
        results = asyncio.run(call(system, python, base, places))
        report = {
            "honest": {
                function.__name__: results[function.__name__] for function in honest.EXPECTED
            },
            "expected": {function.__name__: value for function, value in honest.EXPECTED.items()},
            "hostile": {
                function.__name__: results[function.__name__] for function in hostile.TRIED
            },
            "daemon lives": is_alive(base / "workspace" / "daemon"),
            "key is as it was": places["secret"] in Path(places["keystore"]).read_text(),
            "user": os.getuid(),
        }
        sys.stdout.write(json.dumps(report) + "\n")


async def call(system, python, base, places):
    """Return the results of the tools by name, while a server runs that one of them may reach."""
    async with await asyncio.start_server(page, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        places["page"] = f"http://127.0.0.1:{port}/"
        write, bridge, ports, result = SYSTEMS[system]
        write(base / "tools", [*honest.EXPECTED, *hostile.TRIED])
        host = BridgeHost(
            python=Path(python),
            scratch=base / "scratch",
            cache=base / "cache",
            environment=dict(os.environ),
            limits=ProcessLimits(time_ms=60_000),
            timeout_ms=60_000,
            confinement=Confinement(
                reads=(base / "readable",), ports=(port,), workspace=base / "workspace"
            ),
        )
        discovery = await discover([base / "tools"], [bridge()], host, Naming())
        assert not discovery.rejected, discovery.rejected
        tools = {
            tool.fqn.name.replace("-", "_").removeprefix("run_"): tool for tool in discovery.tools
        }
        results = {}
        async with discovery.running():
            for name in (function.__name__ for function in (*honest.EXPECTED, *hostile.TRIED)):
                outcome = await tools[name].invoke(ports(places))
                is_ok = outcome.variant == "ok"
                results[name] = result(outcome.ports) if is_ok else {"err": outcome.ports}
        return results


def prepare(base, stack):
    """Create a home with keys and an environment with a secret, and return their paths."""
    secret = secrets.token_hex(16)
    os.environ |= {"HOME": str(base / "home"), "OPERATORS_SECRET": secret}
    for name in ("home", "workspace", "readable", "tools"):
        (base / name).mkdir()
    (base / "readable" / "pets.txt").write_text("a cat\n")
    (base / "home" / ".bashrc").write_text("")
    keystore = base / "home" / "sui.keystore"
    keystore.write_text(f"key {secret}")
    os.set_inheritable(os.open(keystore, os.O_RDONLY), True)
    shared = Path("/dev/shm") / f"operators-{secret}"
    shared.write_text(secret)
    stack.callback(shared.unlink)
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    for address in (str(base / "socket"), f"\0{base / 'socket'}"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with contextlib.suppress(OSError):
                other = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
                other.bind(address)
                if kind == socket.SOCK_STREAM:
                    other.listen()
    return {
        "home": str(base / "home"),
        "keystore": str(keystore),
        "workspace": str(base / "workspace"),
        "readable": str(base / "readable"),
        "source": str(base / "tools"),
        "socket": str(base / "socket"),
        "server": os.getpid(),
        "secret": secret,
        "shared": shared.name,
        "tcp": listener.getsockname()[1],
    }


def is_alive(file):
    with contextlib.suppress(OSError):
        os.kill(int(file.read_text()), 0)
        return True
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
