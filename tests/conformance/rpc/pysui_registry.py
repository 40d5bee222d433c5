"""A session of a pysui user with the network, which prints its observations as JSON.

It does not depend on this project: the folder with the compiled package and the URL of the network
are its arguments. The client gets a channel without TLS, as docs/guides/sui-and-pysui.md shows.
"""

import asyncio
import base64
import json
import logging
import sys
import tempfile
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pysui.sui.sui_grpc.pgrpc_requests as requests
import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as messages
from grpclib.client import Channel
from pysui import (
    ExecuteTransaction,
    GetCoins,
    GetDynamicFields,
    GetFunction,
    GetLatestCheckpoint,
    GetMultipleObjects,
    GetObject,
    GetObjectsOwnedByAddress,
    GetPackage,
    GetPastObject,
    GetTransaction,
    GroupProtocol,
    NetworkType,
    PysuiConfiguration,
    SimulateTransaction,
    client_factory,
)
from pysui.sui.sui_bcs import bcs
from pysui.sui.sui_grpc.pgrpc_filters import Literal, build_event_filter

logging.getLogger("pgrpc_client").setLevel(logging.CRITICAL)

FQN = "com.example.echo@1"
LEADER = "0x" + "1e" * 32
SUI = 1_000_000_000
DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
SECRET = base64.b64encode(bytes([0]) + bytes(range(32))).decode()


def configure(url):
    folder = Path(tempfile.mkdtemp())
    config = PysuiConfiguration.initialize_config(
        in_folder=folder, init_groups=[{"name": "scratch", "make_active": True}]
    )
    profile = {"profile_name": "local", "url": url, "network_type": NetworkType.LOCAL}
    (address,) = config.new_group(
        group_name="localnet",
        group_protocol=GroupProtocol.GRPC,
        make_group_active=True,
        active_address_index=0,
        persist=False,
        profile_block=[profile | {"make_active": True}],
        key_block=[{"key_string": SECRET, "alias": "alice"}],
    )
    return config, address


def ask_faucet(url, address):
    body = json.dumps({"FixedAmountRequest": {"recipient": address}}).encode()
    request = urllib.request.Request(
        f"{url}/v2/gas", body, {"content-type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["status"]


async def run(client, transaction, **options):
    """Build, sign and execute a transaction, and return it."""
    built = await transaction.build_and_sign(**options)
    result = await client.execute(command=ExecuteTransaction(**built))
    assert result.is_ok(), result.result_string
    status = result.result_data.effects.status
    assert status.success, status.error
    return result.result_data


async def read(client, command):
    result = await client.execute(command=command)
    assert result.is_ok(), result.result_string
    return result.result_data


def created(executed):
    """Return ids of new objects by the last part of their type; wrapped ones have none."""
    return {
        change.object_type.partition("<")[0].rpartition("::")[2]: change.object_id
        for change in executed.effects.changed_objects
        if change.id_operation == messages.ChangedObjectIdOperation.CREATED and change.object_type
    }


async def publish(client, folder, address):
    document = json.loads((folder / "package.json").read_text())
    modules = [list((folder / f"{name}.mv").read_bytes()) for name in document["modules"]]
    dependencies = [bcs.Address.from_str(address) for address in document["dependencies"]]
    transaction = await client.transaction()
    cap = transaction.builder.publish(modules, dependencies)
    await transaction.transfer_objects(transfers=[cap], recipient=address)
    return created(await run(client, transaction))


async def register(client, ids):
    package = ids["package"]
    transaction = await client.transaction()
    fqn, kind, url = [
        await transaction.move_call(target="0x1::ascii::string", arguments=[list(text)])
        for text in (FQN.encode(), b"offchain", b"https://example.com/echo")
    ]  # pysui takes a text for an object's id where an ASCII string is wanted
    definition = await transaction.move_call(
        target=f"{package}::definition::define",
        arguments=[
            fqn,
            kind,
            url,
            "Says what it hears.",
            list(b"{}"),
            list(b'{"type":"object"}'),
            5_000,
        ],
    )
    collateral = await transaction.split_coin(coin=transaction.gas, amounts=[SUI])
    tool, name = await transaction.move_call(
        target=f"{package}::tool::register",
        arguments=[ids["ToolRegistry"], collateral, WEEK_MS, definition, 42, [LEADER], "0x6"],
    )
    await transaction.move_call(target=f"{package}::tool::share", arguments=[tool])
    await transaction.move_call(target=f"{package}::name::share", arguments=[name])
    return await run(client, transaction)


async def collect(stream, wanted):
    """Return the JSON of the requested number of events, and the cursor of the last frame."""
    found, cursor = [], None
    async for frame in stream:
        cursor = frame.watermark.cursor
        if frame.event is not None:
            found.append(frame.event.json.to_dict())
        if len(found) == wanted:
            break
    return found, cursor


async def follow(client, ids):
    """Subscribe, register, lose the stream, configure, and catch up from the list."""
    package = build_event_filter(terms=[[Literal("event_type", ids["package"])]])
    request = requests.SubscribeEvents(event_filter=package, field_mask=["json"])
    stream = (await client.execute_grpc_request(request=request)).result_data
    await anext(stream)
    registered = await register(client, ids)
    live, cursor = await collect(stream, 2)
    await stream.aclose()
    transaction = await client.transaction()
    await transaction.move_call(
        target=f"{ids['package']}::tool_registry::configure",
        arguments=[ids["ToolRegistry"], ids["Admin"], True, 7 * SUI, DAY_MS, 2_000, 3_000, 4],
    )
    await run(client, transaction, gas_budget=50_000_000)
    options = messages.QueryOptions(after=cursor)
    request = requests.ListEvents(event_filter=package, field_mask=["json"], options=options)
    frames = (await client.execute_grpc_request(request=request)).result_data
    missed, _ = await collect(frames, None)
    return registered, live, missed


async def look_around(client, ids, registered, address):
    """Use every kind of read that pysui has a command for."""
    tool = created(registered)["Tool"]
    shown = await read(client, GetObject(object_id=tool))
    registry = await read(client, GetObject(object_id=ids["ToolRegistry"]))
    fqns = registry.json.to_dict()["fqns"]["id"]
    fields = await read(client, GetDynamicFields(object_id=fqns))
    found = await read(client, GetTransaction(digest=registered.digest))
    owned = await read(client, GetObjectsOwnedByAddress(owner=address))
    many = await read(client, GetMultipleObjects(object_ids=[tool, "0x6"]))
    function = GetFunction(package=ids["package"], module_name="definition", function_name="define")
    described = await read(client, function)
    package = await read(client, GetPackage(package=ids["package"]))
    past = await read(client, GetPastObject(object_id=tool, version=int(shown.version)))
    checkpoint = await read(client, GetLatestCheckpoint())
    coins = await read(client, GetCoins(owner=address))
    return {
        "tool": shown.json.to_dict(),
        "tool_owner": shown.owner.kind.name,
        "field_names": [
            base64.b64encode(field.name.value).decode() for field in fields.dynamic_fields
        ],
        "transaction_checkpoint": found.checkpoint,
        "owned": sorted(item.object_type.rpartition("::")[2] for item in owned.objects),
        "many": [item.object.object_id for item in many.objects],
        "parameters": len(described.function.parameters),
        "modules": sorted(module.name for module in package.package.modules),
        "past_is_present": past.digest == shown.digest,
        "height": checkpoint.checkpoint.sequence_number,
        "coins": len(coins.objects),
    }


async def simulate(client, address):
    """Return the cost of a transfer without executing it."""
    transaction = await client.transaction()
    coin = await transaction.split_coin(coin=transaction.gas, amounts=[5])
    await transaction.transfer_objects(transfers=[coin], recipient=address)
    built = await transaction.build(gas_budget=5_000_000)
    simulated = await read(client, SimulateTransaction(tx_bytestr=built))
    return simulated.transaction.effects.status.success


async def main(url, folder):
    config, address = configure(url)
    faucet = ask_faucet(url, address)
    client = client_factory(config)
    place = urlsplit(url)
    client._channel = Channel(place.hostname, place.port)
    async with client:
        ids = await publish(client, folder, address)
        registered, live, missed = await follow(client, ids)
        seen = await look_around(client, ids, registered, address)
        seen |= {"faucet": faucet, "live": live, "missed": missed, "ids": ids}
        seen |= {"tool_id": created(registered)["Tool"], "digest": registered.digest}
        seen |= {"gas_price": client.current_gas_price}
        seen |= {"simulated": await simulate(client, address), "address": address}
    sys.stdout.write(json.dumps(seen))


asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
