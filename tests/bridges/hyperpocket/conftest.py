"""Tools on disk, a host for them, an authorization server, and a clock that tests control."""

import asyncio
import json
import secrets
import sys
from pathlib import Path
from urllib.parse import parse_qs

import anyio
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from nexus_tools.bridges import BridgeHost, Confinement, Naming
from nexus_tools.bridges.credentials import CredentialStore
from nexus_tools.bridges.hyperpocket.auth import Clock
from nexus_tools.bridges.hyperpocket.bridge import HyperpocketBridge
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of

START = 1_000_000.0


@pytest.fixture
def host(tmp_path):
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "OPERATORS_SECRET": "not-for-tools",
    }
    counted = tmp_path / "counted"
    counted.mkdir()
    return BridgeHost(
        Path(sys.executable),
        tmp_path / "scratch",
        tmp_path / "cache",
        environment,
        timeout_ms=60_000,
        confinement=Confinement(writes=(counted,)),
    )


@pytest.fixture
def store(tmp_path):
    return CredentialStore(tmp_path / "credentials.json")


@pytest.fixture
def write_packaged(tmp_path):
    """Return a function that writes a packaged tool: `pocket.json` and further files by name."""

    def write_packaged(
        files=None, *, name="shout", run="sh main.sh", build=None, schema=None, **more
    ):
        folder = tmp_path / "tools" / name
        folder.mkdir(parents=True)
        tool = {"name": name, "description": f"The tool {name}."}
        tool["inputSchema"] = schema or {"type": "object", "properties": {"text": {}}}
        entrypoint = {"run": run} | ({"build": build} if build else {})
        document = {"tool": tool, "language": "node", "entrypoint": entrypoint} | more
        (folder / "pocket.json").write_text(json.dumps(document))
        for path, content in (files or {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        return folder

    return write_packaged


@pytest.fixture
def write_module(tmp_path):
    """Return a function that writes a module of tools in Python."""

    def write_module(code, name="tools_here.py"):
        path = tmp_path / "modules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
        return path

    return write_module


@pytest.fixture
def discover_tools(host):
    """Return a function that discovers the tools at a path, with options for the bridge."""

    async def discover_tools(place, **options):
        bridge = HyperpocketBridge(**options)
        return await bridge.discover(place, host, Naming("xyz.example"))

    return discover_tools


@pytest.fixture
def call_tool(discover_tools):
    """Return a function that builds and invokes the only tool at a path."""

    async def call_tool(place, ports, **options):
        discovery = await discover_tools(place, **options)
        assert discovery.rejected == ()
        [tool] = discovery.tools
        async with discovery.running():
            return (await tool.invoke(ports)).as_json()

    return call_tool


class ManualClock:
    """A clock that stands still until a test advances it."""

    def __init__(self):
        self.time = START
        self.slept = []
        self._sleepers = []
        self._asleep = asyncio.Event()
        self.clock = Clock(lambda: self.time, self._sleep)

    async def _sleep(self, seconds):
        self.slept.append(seconds)
        woken = asyncio.Event()
        self._sleepers.append((self.time + seconds, woken))
        self._asleep.set()
        await woken.wait()

    async def asleep(self):
        """Wait until a task sleeps."""
        async with asyncio.timeout(30):
            await self._asleep.wait()

    async def turn(self, seconds):
        """Wait until a task sleeps, advance the time, and wake the tasks that are due."""
        await self.asleep()
        self.time += seconds
        due = [sleeper for sleeper in self._sleepers if sleeper[0] <= self.time]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self.time]
        if not self._sleepers:
            self._asleep.clear()
        for _, woken in due:
            woken.set()


@pytest.fixture
async def manual_clock():
    return ManualClock()


class Issue:
    """The state of a device code at the server."""

    def __init__(self, scope, expires_at, interval):
        self.scope, self.expires_at, self.interval = scope, expires_at, interval
        self.decision = None
        self.polled_at = None


class AuthorizationServer:
    """An authorization server for one client, according to RFC 8628 and RFC 6749."""

    def __init__(self, clock):
        self.clock = clock
        self.url = ""
        self.client_secret = None
        self.lifetime, self.interval, self.expires_in = 600, 5, 3600
        self.issues, self.codes, self.refresh_tokens = {}, {}, {}
        self.forms, self.tokens = [], []
        self.granted = None
        self.app = Starlette(
            routes=[
                Route("/device", self._device, methods=["POST"]),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    def decide(self, user_code, decision):
        self.issues[self.codes[user_code]].decision = decision

    async def _form(self, request):
        form = {
            name: values[0] for name, values in parse_qs((await request.body()).decode()).items()
        }
        self.forms.append((request.url.path, form))
        is_client = form.get("client_id") == "client-1"
        return form if is_client and form.get("client_secret") == self.client_secret else None

    async def _device(self, request):
        form = await self._form(request)
        if form is None:
            return JSONResponse({"error": "invalid_client"}, 401)
        device_code, user_code = secrets.token_hex(16), secrets.token_hex(4).upper()
        expires_at = self.clock.time + self.lifetime
        self.issues[device_code] = Issue(form.get("scope", ""), expires_at, self.interval)
        self.codes[user_code] = device_code
        answer = {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": "https://example.com/device",
            "verification_uri_complete": f"https://example.com/device?code={user_code}",
            "expires_in": self.lifetime,
            "interval": self.interval,
        }
        return JSONResponse(answer)

    async def _token(self, request):
        form = await self._form(request)
        if form is None:
            return JSONResponse({"error": "invalid_client"}, 401)
        if form["grant_type"] == "refresh_token":
            scope = self.refresh_tokens.pop(form["refresh_token"], None)
            if scope is None:
                return JSONResponse({"error": "invalid_grant"}, 400)
            return JSONResponse(self._issue(scope))
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code"
        return self._poll(self.issues.get(form["device_code"]))

    def _poll(self, issue):
        error = "invalid_grant" if issue is None else self._error(issue)
        if error:
            return JSONResponse({"error": error}, 400)
        return JSONResponse(self._issue(issue.scope))

    def _error(self, issue):
        last, issue.polled_at = issue.polled_at, self.clock.time
        if self.clock.time >= issue.expires_at:
            return "expired_token"
        if last is not None and self.clock.time - last < issue.interval:
            return "slow_down"
        return {None: "authorization_pending", "deny": "access_denied"}.get(issue.decision)

    def _issue(self, scope):
        access, refresh = (f"{kind}-{secrets.token_hex(16)}" for kind in ("access", "refresh"))
        self.tokens.append(access)
        self.refresh_tokens[refresh] = scope
        answer = {"access_token": access, "token_type": "Bearer", "refresh_token": refresh}
        granted = scope if self.granted is None else self.granted
        return answer | {"expires_in": self.expires_in, "scope": granted}


@pytest.fixture
async def authorization_server(manual_clock):
    server = AuthorizationServer(manual_clock)
    listener = listening_socket("127.0.0.1", 0)
    server.url = url_of(listener)
    async with serve_embedded(server.app, listener, lifespan="off") as serving:
        yield server
        # Some tasks wait for a sign-in that never happens.
        serving.force_exit = True


@pytest.fixture
def device_flow(authorization_server):
    """Return the operator's document for a provider with sign-in at the server."""
    return {
        "kind": "device_flow",
        "client_id": "client-1",
        "token_endpoint": f"{authorization_server.url}/token",
        "device_authorization_endpoint": f"{authorization_server.url}/device",
    }


class AnnouncingStore(CredentialStore):
    """A store that signals when a credential is stored."""

    def __init__(self, path):
        super().__init__(path)
        self._has_put = asyncio.Event()

    def put(self, key, credential):
        super().put(key, credential)
        anyio.from_thread.run_sync(self._has_put.set)

    async def has_put(self):
        """Wait until a credential is stored."""
        async with asyncio.timeout(30):
            await self._has_put.wait()


@pytest.fixture
async def announcing_store(tmp_path):
    return AnnouncingStore(tmp_path / "credentials.json")
