import asyncio
import json
import signal
import socket
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import httpx
import pytest
from anyio import to_thread
from mcp import Client, MCPError

DIVIDE = "xyz_example_math_divide_v1"
NAP = "xyz_example_time_nap_v1"
FQNS = ["xyz.example.math.divide@1", "xyz.example.text.count_words@1", "xyz.example.time.nap@1"]
QUOTIENT = {"ok": {"quotient": 42, "remainder": 0}}

# .ci/run also connects clients of the older generation.
MODES = ["auto", pytest.param("legacy", marks=pytest.mark.long)]


async def balance(user):
    """Read by a command, which has an event loop of its own."""
    shown = await to_thread.run_sync(lambda: user.json("wallet", "show"))
    return shown["balance_mist"]


def receipt(result):
    """Return the members of `_meta` that this server adds to the result of a paid call."""
    meta = result.meta or {}
    return {key: value for key, value in meta.items() if key.startswith("nexus/")}


def text(result):
    [content] = result.content
    return content.text


# --- On stdin and stdout


@asynccontextmanager
async def forward_connections(port, target):
    """Forward connections to a port of this machine to the host and port of a URL."""
    parts = urlsplit(target)
    pumps = []

    async def pump(reader, writer):
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def serve(reader, writer):
        there, back = await asyncio.open_connection(parts.hostname, parts.port)
        pumps.extend(map(asyncio.create_task, (pump(reader, back), pump(there, writer))))

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        yield
    finally:
        server.close()
        for task in pumps:
            task.cancel()
        await asyncio.gather(*pumps)


@pytest.fixture
def free_port():
    """Yield a port on which only this test can start a server (socket(7), SO_REUSEADDR)."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize("mode", MODES)
async def test_serve_starts_without_a_network_and_recovers(on_stdio, user, chain, mode, free_port):
    settings = user.settings
    settings["networks"]["test"]["url"] = f"http://127.0.0.1:{free_port}"
    user.configure(**settings)
    inputs = {"dividend": 84, "divisor": 2}
    async with on_stdio("--allow-loopback", mode=mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.list_tools()
        failed = await client.call_tool(DIVIDE, inputs)
        async with forward_connections(free_port, chain.url):
            listed = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool(DIVIDE, inputs)
    assert refused.value.error.data == {"code": "node_unreachable"}
    assert f"127.0.0.1:{free_port}" in refused.value.error.message
    assert failed.is_error
    assert f"127.0.0.1:{free_port}" in text(failed)
    assert DIVIDE in listed
    assert (result.structured_content, result.is_error) == (QUOTIENT, False)


async def refusal(client):
    """Return the code and the message with which a server refuses all requests."""
    with pytest.raises(MCPError) as refused:
        await client.list_tools()
    failed = await client.call_tool(DIVIDE, {"dividend": 84, "divisor": 2})
    code, message = refused.value.error.data["code"], refused.value.error.message
    assert (failed.is_error, text(failed)) == (True, f"{code}: {message}")
    return code, message


async def test_serve_starts_without_a_package_and_recovers(on_stdio, user):
    settings = user.settings
    deployments = settings.pop("deployments")
    user.configure(**settings)
    async with on_stdio() as client:
        code, _ = await refusal(client)
        user.configure(**settings, deployments=deployments)
        listed = [tool.name for tool in (await client.list_tools()).tools]
    assert code == "package_not_published"
    assert DIVIDE in listed


async def test_serve_starts_if_another_node_uses_the_localnet_port(on_stdio, user, chain):
    user.environment["NEXUS_TOOLS_LOCALNET_PORT"] = chain.url.rpartition(":")[2]
    async with on_stdio("--network", "localnet") as client:
        code, message = await refusal(client)
    assert code == "localnet_not_running"
    assert "localnet start" in message


@pytest.mark.parametrize("options", [(), ("--on-chain", "--budget", "1")])
async def test_serve_starts_without_its_key_and_recovers(on_stdio, user, options):
    async with on_stdio("--wallet", "agent", *options) as client:
        code, message = await refusal(client)
        await to_thread.run_sync(lambda: user.json("wallet", "new", "agent"))
        listed = [tool.name for tool in (await client.list_tools()).tools]
    assert code == "account_unknown"
    assert message.startswith("no key named agent in the keystore, ")
    assert str(user.folder) not in message
    assert DIVIDE in listed


@pytest.fixture
def unreachable(home, free_port):
    """A user whose network does not respond."""
    url = f"http://127.0.0.1:{free_port}"
    home.configure(network="test", networks={"test": {"url": url}})
    return home


def test_serve_warns_of_unreachable_network(unreachable):
    done = unreachable.spawn("mcp", "serve", stdin="")
    assert (done.code, done.stdout) == (0, "")
    assert "calls fail until the network responds" in " ".join(done.stderr.split())
    assert "connection_failed" not in done.stderr


@pytest.mark.parametrize("mode", MODES)
async def test_search_mode_finds_and_calls_tools(on_stdio, mode):
    async with on_stdio("--allow-loopback", "--mode", "search", mode=mode) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("find_tools", {"query": "divide integers"})
        fqn = found.structured_content["tools"][0]["fqn"]
        described = await client.call_tool("describe_tool", {"fqn": fqn})
        inputs = {"dividend": 84, "divisor": 2}
        result = await client.call_tool("call_tool", {"fqn": fqn, "inputs": inputs})
    assert receipt(result) == {}  # a direct call is free
    assert listed == ["find_tools", "describe_tool", "call_tool"]
    assert fqn == FQNS[0]
    assert described.structured_content["nexus/price_mist"] == 10_000_000
    assert (result.structured_content, result.is_error) == (QUOTIENT, False)


@pytest.mark.long
async def test_serve_filters_tools_by_pattern(on_stdio):
    async with on_stdio("--only", "xyz.example.*", "--exclude", "nap") as client:
        listed = (await client.list_tools()).tools
    assert sorted(tool.title for tool in listed) == FQNS[:2]


@pytest.mark.long
async def test_page_size_limits_tools_per_page(on_stdio):
    async with on_stdio("--page-size", "2", "--domain", "xyz.example") as client:
        first = await client.list_tools()
        second = await client.list_tools(cursor=first.next_cursor)
    assert (len(first.tools), len(second.tools)) == (2, 1)


@pytest.mark.long
async def test_paid_tools_show_their_price(on_stdio):
    async with on_stdio("--on-chain", "--budget", "1", "--only", "divide") as client:
        [paid] = [tool for tool in (await client.list_tools()).tools if tool.name == DIVIDE]
    assert "A call costs 0.01 SUI plus the leader's fee and gas." in paid.description
    assert paid.meta["nexus/price_mist"] == 10_000_000


@pytest.mark.parametrize("mode", MODES)
async def test_registered_tools_are_listed_and_called_directly(on_stdio, mode):
    async with on_stdio("--allow-loopback", "--domain", "xyz.example", mode=mode) as client:
        listed = (await client.list_tools()).tools
        result = await client.call_tool("math_divide_v1", {"dividend": 84, "divisor": 2})
    assert sorted(tool.title for tool in listed) == FQNS
    assert (result.structured_content, result.is_error) == (QUOTIENT, False)
    assert json.loads(text(result)) == QUOTIENT


@pytest.mark.long
async def test_error_variant_returns_error_with_ports(on_stdio):
    async with on_stdio("--allow-loopback") as client:
        result = await client.call_tool(DIVIDE, {"dividend": 1, "divisor": 0})
    reason = "1 cannot be divided by zero"
    assert result.is_error
    assert result.structured_content == {"err_division_by_zero": {"reason": reason}}


@pytest.mark.long
async def test_failed_call_returns_reason(on_stdio):
    async with on_stdio("--allow-loopback") as client:
        result = await client.call_tool(NAP, {"ending": "crash", "duration_ms": 0})
    assert result.is_error
    assert result.structured_content is None
    assert text(result).startswith("http_error")


@pytest.mark.long
async def test_loopback_tools_need_permission(on_stdio):
    async with on_stdio() as client:
        result = await client.call_tool(DIVIDE, {"dividend": 84, "divisor": 2})
    assert result.is_error
    assert "address_refused" in text(result)


@pytest.fixture
def impostor(user, definition, meta_file, tool_server_url):
    """The name of a tool whose URL is that of another one."""
    definition |= {"fqn": "xyz.test.impostor.add@1", "url": f"{tool_server_url}/divide"}
    path = meta_file(definition)
    user.json("tool", "register", "--from-meta", path, "--skip-validation", "--yes")
    return "xyz_test_impostor_add_v1"


@pytest.mark.long
async def test_url_of_other_tool_is_not_called(on_stdio, impostor):
    async with on_stdio("--allow-loopback") as client:
        result = await client.call_tool(impostor, {"a": 1, "b": 2})
    assert result.is_error
    assert text(result) == "definition_mismatch: the tool's /meta names a different tool"


@pytest.mark.long
async def test_invalid_input_error_names_locations(on_stdio):
    async with on_stdio("--allow-loopback") as client:
        result = await client.call_tool(DIVIDE, {"dividend": "1", "divisor": 1})
    assert result.is_error
    assert text(result).startswith("input_invalid")
    assert "/dividend" in text(result)


@pytest.mark.long
async def test_serve_filters_tools(on_stdio):
    async with on_stdio("--allow-loopback", "--domain", "xyz.example.math") as client:
        [tool] = (await client.list_tools()).tools
        with pytest.raises(MCPError, match="unknown tool"):
            await client.call_tool(NAP, {"duration_ms": 0})
    assert tool.name == "divide_v1"


@pytest.mark.long
async def test_serve_filters_by_owner_and_price(on_stdio, seller):
    owner = str(seller.wallet.signer().address)
    async with on_stdio("--owner", owner, "--max-price", "0.01") as client:
        assert len((await client.list_tools()).tools) == 3
    async with on_stdio("--owner", owner, "--max-price", "0.009") as client:
        assert (await client.list_tools()).tools == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_server_with_empty_stdout(user, number):
    result = user.daemon("serving", "mcp", "serve").end(number)
    assert (result.code, result.stdout) == (0, "")


@pytest.mark.long
def test_end_of_stdin_stops_server(user):
    result = user.spawn("mcp", "serve", stdin="")
    assert (result.code, result.stdout) == (0, "")


def messages(*calls):
    """Return the messages of a client from `initialize` on, one on each line."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}}
    client["clientInfo"] = {"name": "test", "version": "1"}
    written = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        *({"id": n, "method": "tools/call", "params": p} for n, p in enumerate(calls, start=1)),
    ]
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in written)


NAPPING = {"name": NAP, "arguments": {"duration_ms": 4_000}}


@pytest.mark.long
def test_end_of_stdin_stops_server_during_call(user):
    result = user.spawn("mcp", "serve", "--allow-loopback", stdin=messages(NAPPING))
    assert result.code == 0, result.stderr
    assert json.loads(result.stdout.splitlines()[0])["result"]["serverInfo"]


@pytest.mark.long
def test_signal_stops_server_during_call(user):
    server = user.daemon("serving", "mcp", "serve", "--allow-loopback")
    server.process.stdin.write(messages(NAPPING))
    server.process.stdin.flush()
    assert "serverInfo" in server.process.stdout.readline()
    assert server.end(signal.SIGINT).code == 0


@pytest.mark.long
def test_disconnected_client_stops_server(user):
    server = user.daemon("serving", "mcp", "serve")
    server.process.stdout.close()
    _, err = server.process.communicate(messages(), timeout=30)
    assert (server.process.returncode, err) == (0, "")


# --- By HTTP


def url_of(server):
    return next(word for word in server.line.split() if word.startswith("http")).rstrip(",")


@pytest.mark.parametrize("mode", MODES)
async def test_http_clients_can_connect(user, mode):
    server = user.daemon("serving", "mcp", "serve", "--http", "127.0.0.1:0", "--allow-loopback")
    async with Client(url_of(server), mode=mode) as client:
        result = await client.call_tool(DIVIDE, {"dividend": 84, "divisor": 2})
    assert result.structured_content == QUOTIENT
    assert server.end(signal.SIGINT).code == 0


@pytest.mark.parametrize("address", ["0", ":0"])
def test_http_port_without_a_host_is_on_the_loopback_interface(user, address):
    server = user.daemon("serving", "mcp", "serve", "--http", address)
    assert url_of(server).startswith("http://127.0.0.1:")


@pytest.mark.long
def test_http_rejects_unknown_host_names(user):
    server = user.daemon(
        *("serving", "mcp", "serve", "--http", "127.0.0.1:0"),
        *("--allow-host", "agents.example.com"),
    )
    url, first = url_of(server), json.loads(messages().splitlines()[0])
    for name, status in [("other", 403), ("agents.example.com", 200)]:
        headers = {"Host": name, "Accept": "application/json, text/event-stream"}
        assert httpx.post(url, headers=headers, json=first).status_code == status


@pytest.mark.long
def test_public_address_warns(user):
    arguments = ("mcp", "serve", "--http", "0.0.0.0:0", "--allow-unauthenticated")
    server = user.daemon("anyone", *arguments)
    assert "anyone who can reach 0.0.0.0 can call these tools" in server.line


# --- On chain


@pytest.mark.long
async def test_on_chain_call_reports_progress(
    on_stdio, running_leader, operator_leader, seller, user
):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, message))

    before, earned = await balance(user), await balance(seller)
    async with on_stdio("--on-chain", "--budget", "1") as client:
        result = await client.call_tool(
            DIVIDE, {"dividend": 84, "divisor": 2}, progress_callback=hear
        )
    assert result.structured_content == QUOTIENT
    assert [count for count, _ in heard] == [1, 2, 3]
    requested, assigned, settled = (message for _, message in heard)
    assert requested.startswith("requested: invocation 0x")
    assert operator_leader in assigned
    assert settled.startswith("settled in the transaction ")
    assert await balance(seller) - earned == 10_000_000
    paid = before - await balance(user)
    assert 10_000_000 < paid < 50_000_000
    place = requested.split()[2].rstrip(",")
    assert settled.endswith(f", paid {result.meta['nexus/paid']}")
    assert receipt(result) == {
        "nexus/paid": f"{paid / 10**9:.9f}".rstrip("0") + " SUI",
        "nexus/paid_mist": paid,
        "nexus/invocation": place,
    }
    shown = await to_thread.run_sync(lambda: user.fails("tool", "outcome", place))
    assert shown == (3, "invocation_unknown")


@pytest.mark.long
async def test_on_chain_failure_has_reason(on_stdio, running_leader):
    async with on_stdio("--on-chain", "--yes") as client:
        result = await client.call_tool(NAP, {"ending": "crash", "duration_ms": 0})
    assert result.is_error
    assert text(result).startswith("http_error")
    assert receipt(result)["nexus/paid_mist"] > 0


async def test_calls_beyond_budget_are_rejected(on_stdio, running_leader, user):
    before = await balance(user)
    async with on_stdio("--on-chain", "--budget", "0.005") as client:
        result = await client.call_tool(DIVIDE, {"dividend": 84, "divisor": 2})
    assert result.is_error
    assert text(result).startswith("budget_exhausted")
    assert receipt(result) == {}
    assert await balance(user) == before


@pytest.mark.long
async def test_spent_amount_counts_against_budget(on_stdio, running_leader):
    """A call prepays 0.045 SUI and some gas; of it, the tool and its Leader keep 0.01 and more."""
    async with on_stdio("--on-chain", "--budget", "0.06") as client:
        first = await client.call_tool(DIVIDE, {"dividend": 84, "divisor": 2})
        second = await client.call_tool(DIVIDE, {"dividend": 84, "divisor": 2})
    assert first.structured_content == QUOTIENT
    assert text(second).startswith("budget_exhausted")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--on-chain",), "budget_missing"),
        (("--budget", "1"), "option_not_applicable"),
        (("--http", "nowhere"), "address_invalid"),
        (("--http", "0.0.0.0:0"), "authentication_missing"),
        (("--http", "[::]:0", "--on-chain", "--yes"), "authentication_missing"),
        (("--allow-network", "nowhere"), "config_invalid"),
    ],
)
def test_incompatible_options_are_rejected(user, arguments, code):
    assert user.fails("mcp", "serve", *arguments) == (2, code)


@pytest.mark.parametrize(
    ("option", "code"),
    [("--allow-network", "config_invalid"), ("--index-url", "index_url_invalid")],
)
def test_invalid_option_is_rejected_when_the_network_is_unreachable(unreachable, option, code):
    failed = unreachable.spawn("mcp", "serve", option, "nowhere", "--json", stdin="")
    assert (failed.code, failed.error["code"]) == (2, code)


def test_unknown_leader_is_reported_once(user):
    done = user.spawn("mcp", "serve", "--on-chain", "--yes", "--leader", "northern", stdin="")
    assert done.code == 0
    assert done.stderr.count("northern") == 1, done.stderr
