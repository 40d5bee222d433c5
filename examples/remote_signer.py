"""A remote signer with a policy: `python examples/remote_signer.py policy.toml`.

The server holds one key and signs only transactions that its policy allows. It decodes each
transaction itself and refuses everything that it does not understand. See `policy.toml` in
`docs/guides/signers.md`.
"""

import asyncio
import hmac
import json
import os
import signal
import ssl
import sys
import tomllib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from nexus_tools.errors import NexusError
from nexus_tools.http import embedded_server
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.support.private_file import is_exposed, locked, write_private
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import transaction_digest
from nexus_tools.sui.types.transaction import (
    TRANSACTION_DATA,
    Argument,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    NestedResult,
    ProgrammableTransaction,
    Pure,
    Result,
    SplitCoins,
    TransactionData,
    TransferObjects,
    arguments_of,
)

MAX_BODY_BYTES = 256 * 1024
# Functions of the framework that give nothing to another address.
HARMLESS = {
    *("0x1::vector::append", "0x1::ascii::string", "0x1::string::utf8"),
    *("0x2::coin::redeem_funds", "0x2::balance::redeem_funds", "0x2::coin::zero"),
}


class RefusedError(Exception):
    """The policy does not allow a transaction."""


class InvalidPolicyError(Exception):
    """The policy file is not valid."""


# --- The policy


@dataclass(frozen=True)
class Policy:
    """The rules. `calls` are packages, modules or functions: `0x…`, `0x…::m`, `0x…::m::f`."""

    calls: frozenset[str]
    recipients: frozenset[Address]
    max_budget_mist: int
    max_budget_mist_per_day: int

    def check(self, data: TransactionData, owner: Address) -> None:
        """Raise `RefusedError` unless the policy allows a transaction of `owner`."""
        if data.sender != owner or data.gas.owner != owner:
            raise RefusedError("the sender and the gas owner must be the address of the signer")
        if data.gas.budget > self.max_budget_mist:
            raise RefusedError(f"the gas budget exceeds {self.max_budget_mist} MIST")
        if not isinstance(data.kind, ProgrammableTransaction):
            raise RefusedError("the transaction is not a transaction of a user")
        recipients = self.recipients | {owner}
        for command in data.kind.commands:
            if isinstance(command, MoveCall):
                self._check_call(command, data.kind, recipients)
            elif isinstance(command, TransferObjects):
                _check_recipient(command.address, data.kind, recipients)
            elif not isinstance(command, SplitCoins | MergeCoins | MakeMoveVec):
                raise RefusedError(f"{type(command).__name__} is not allowed")

    def _check_call(
        self, call: MoveCall, kind: ProgrammableTransaction, recipients: frozenset[Address]
    ) -> None:
        name = name_of(call)
        if not (call.module.isidentifier() and call.function.isidentifier()):
            raise RefusedError(f"{name} is not a function")
        if _sends_funds(call):
            _check_recipient(call.arguments[1], kind, recipients)
        elif name not in HARMLESS:
            package = _short(call.package)
            if self.calls.isdisjoint((package, f"{package}::{call.module}", name)):
                raise RefusedError(f"{name} is not allowed")


def name_of(call: MoveCall) -> str:
    """Return the package, module and function of a call. The short form is `0x2`."""
    return f"{_short(call.package)}::{call.module}::{call.function}"


def _sends_funds(call: MoveCall) -> bool:
    return name_of(call) == "0x2::coin::send_funds" and len(call.arguments) == 2


def _short(package: Address) -> str:
    number = int(str(package), 16)
    return hex(number) if number < 2**16 else str(package)


def _check_recipient(
    argument: Argument, kind: ProgrammableTransaction, recipients: frozenset[Address]
) -> None:
    """Refuse a recipient that is not listed, or that only the execution would determine."""
    recipient = _recipient(argument, kind)
    if recipient is None:
        raise RefusedError("the recipient is not an address in the transaction")
    if recipient not in recipients:
        raise RefusedError(f"the recipient {recipient} is not allowed")


def _recipient(argument: Argument, kind: ProgrammableTransaction) -> Address | None:
    return Address(value) if len(value := _pure(argument, kind)) == 32 else None


def _pure(argument: Argument, kind: ProgrammableTransaction) -> bytes:
    """Return the bytes of a pure input, or no bytes for another argument."""
    if not isinstance(argument, InputArgument) or argument.index >= len(kind.inputs):
        return b""
    value = kind.inputs[argument.index]
    return value.value if isinstance(value, Pure) else b""


@dataclass(frozen=True)
class DailyBudget:
    """The gas budgets of one day (UTC), in a file. A restart does not reset the total."""

    file: Path
    limit_mist: int
    today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat()

    def spend(self, mist: int) -> None:
        """Add a budget to the total of today, before the signature is returned."""
        with locked(self.file):
            day, spent_mist = self.read()
            today = self.today()
            if today < day:
                raise RefusedError(f"the clock is wrong: the last transaction was signed on {day}")
            spent_mist = mist + (spent_mist if today == day else 0)
            if spent_mist > self.limit_mist:
                raise RefusedError(f"the gas budgets of today exceed {self.limit_mist} MIST")
            write_private(self.file, json.dumps({"day": today, "spent_mist": spent_mist}))

    def read(self) -> tuple[str, int]:
        """Return the last day and its total. A damaged file allows nothing."""
        try:
            document = json.loads(self.file.read_text())
            return str(document["day"]), int(document["spent_mist"])
        except FileNotFoundError:
            return "", 0
        except (OSError, ValueError, KeyError, TypeError):
            raise RefusedError(f"the file {self.file} with the total of today is damaged") from None


# --- The server


@dataclass(frozen=True)
class RemoteSignerServer:
    """The HTTP server. `token` is None if client certificates identify the clients."""

    key: KeyPair
    policy: Policy
    budget: DailyBudget
    log: Path
    token: str | None

    def app(self) -> Starlette:
        """Return the application."""
        routes = [Route("/address", self._address), Route("/sign", self._sign, methods=["POST"])]
        return Starlette(routes=routes)

    async def _address(self, request: Request) -> JSONResponse:
        if not self._is_known(request):
            return self._unauthorized(request)
        return JSONResponse({"address": str(self.key.address)})

    async def _sign(self, request: Request) -> JSONResponse:
        if not self._is_known(request):
            return self._unauthorized(request)
        try:
            document = json.loads(await _body(request))
            address = document["address"]
            encoded = b64decode(document["transaction"], validate=True)
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._answer(request, 400, "request_invalid", "the request cannot be read")
        if address != str(self.key.address):
            return self._answer(request, 404, "address_unknown", "the signer has another key")
        details: dict[str, Any] = {"digest": str(transaction_digest(encoded))}
        try:
            data = decode(encoded)
            details |= {"budget_mist": data.gas.budget, "calls": calls_of(data)}
            details["transfers"] = transfers_of(data)
            self.policy.check(data, self.key.address)
            self.budget.spend(data.gas.budget)
        except RefusedError as refusal:
            return self._answer(request, 403, "refused", str(refusal), **details)
        self._write(request, "signed", **details)
        return JSONResponse({"signature": b64encode(self.key.sign(encoded)).decode()})

    def _is_known(self, request: Request) -> bool:
        if self.token is None:
            return True
        given = request.headers.get("authorization", "").encode()
        return hmac.compare_digest(given, f"Bearer {self.token}".encode())

    def _unauthorized(self, request: Request) -> JSONResponse:
        return self._answer(request, 401, "unauthorized", "the token is missing or wrong")

    def _answer(
        self, request: Request, status: int, code: str, reason: str, **details: Any
    ) -> JSONResponse:
        self._write(request, code, reason=reason, **details)
        return JSONResponse({"error": {"code": code, "message": reason}}, status)

    def _write(self, request: Request, decision: str, **details: Any) -> None:
        """Append one line to the log, which only the owner of the server can read."""
        client = request.client.host if request.client else None
        line = {"time": datetime.now(UTC).isoformat(), "client": client, "decision": decision}
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(json.dumps(line | details) + "\n")


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise ValueError("the request is too large")
    return bytes(body)


def decode(encoded: bytes) -> TransactionData:
    """Return the transaction. Refuse bytes that another program could read differently."""
    try:
        data = TRANSACTION_DATA.decode(encoded)
        is_same = data.encode() == encoded
    except Exception:  # noqa: BLE001 - the bytes are untrusted
        is_same = False
    if not is_same:
        raise RefusedError("the bytes are not a transaction that this signer understands")
    return data


def calls_of(data: TransactionData) -> list[str]:
    """Return the functions that a transaction calls, for the log."""
    commands = data.kind.commands if isinstance(data.kind, ProgrammableTransaction) else ()
    return [name_of(command) for command in commands if isinstance(command, MoveCall)]


def transfers_of(data: TransactionData) -> list[dict[str, Any]]:
    """Return the recipients and amounts of a transaction's transfers, for the log.

    An amount is in the smallest unit of its coin, or None if only the execution determines it.
    """
    if not isinstance(data.kind, ProgrammableTransaction):
        return []
    amounts = _split_amounts(data.kind)
    transfers: list[tuple[tuple[Argument, ...], Address | None]] = []
    for command in data.kind.commands:
        if isinstance(command, TransferObjects):
            transfers.append((command.objects, _recipient(command.address, data.kind)))
        elif isinstance(command, MoveCall) and _sends_funds(command):
            coin, to = command.arguments
            transfers.append(((coin,), _recipient(to, data.kind)))
    return [
        {"recipient": to and str(to), "amounts": [amounts.get(_nested(item)) for item in objects]}
        for objects, to in transfers
    ]


def _split_amounts(kind: ProgrammableTransaction) -> dict[Argument, int]:
    """Return the amounts of new coins that are used only once, so that nothing changes them."""
    uses = Counter(_nested(item) for command in kind.commands for item in arguments_of(command))
    changeable = {item for it in kind.commands if isinstance(it, MoveCall) for item in it.arguments}
    return {
        NestedResult(number, index): int.from_bytes(_pure(amount, kind), "little")
        for number, command in enumerate(kind.commands)
        if isinstance(command, SplitCoins)
        for index, amount in enumerate(command.amounts)
        if uses[NestedResult(number, index)] == 1
        and amount not in changeable
        and len(_pure(amount, kind)) == 8
    }


def _nested(argument: Argument) -> Argument:
    return NestedResult(argument.command, 0) if isinstance(argument, Result) else argument


# --- The policy file


def load(file: Path) -> tuple[RemoteSignerServer, dict[str, Any]]:
    """Return the server of a policy file and its options. Raises `InvalidPolicyError`."""
    document, folder = tomllib.loads(file.read_text()), file.parent
    tls, token_file = document.pop("tls", {}), document.pop("token_file", None)
    try:
        listen, key = document.pop("listen"), Settings.load().find_key(document.pop("key"))
        policy = Policy(
            frozenset(map(_call, document.pop("calls"))),
            frozenset(map(Address.parse_whole, document.pop("recipients"))),
            int(document.pop("max_budget_mist")),
            int(document.pop("max_budget_mist_per_day")),
        )
        total_file, log = folder / document.pop("total_file"), folder / document.pop("log_file")
        token = None if token_file is None else _token(folder / token_file)
        options = _options(folder, listen, tls, has_token=token is not None)
    except KeyError as error:
        raise InvalidPolicyError(f"the setting {error} is missing") from None
    if document:
        raise InvalidPolicyError(f"unknown settings: {', '.join(document)}")
    budget = DailyBudget(total_file, policy.max_budget_mist_per_day)
    budget.read()
    return RemoteSignerServer(key, policy, budget, log, token), options


def _options(folder: Path, listen: str, tls: dict[str, str], *, has_token: bool) -> dict[str, Any]:
    """Return the options of uvicorn for the address and TLS. Each client must be identified."""
    host, port = embedded_server.parse_host_and_port(str(listen))
    options: dict[str, Any] = {"host": host, "port": port, "limit_concurrency": 64}
    if tls:
        options |= {"ssl_certfile": folder / tls["certificate"], "ssl_keyfile": folder / tls["key"]}
        if "client_ca" in tls:
            options["ssl_ca_certs"] = str(folder / tls["client_ca"])
            options["ssl_cert_reqs"] = ssl.CERT_REQUIRED
    elif not ip_address(host).is_loopback:
        raise InvalidPolicyError("an address that is not a loopback address needs [tls]")
    if not has_token and "ssl_ca_certs" not in options:
        raise InvalidPolicyError("expected token_file, or client_ca in [tls]")
    return options


def _token(file: Path) -> str:
    if is_exposed(file):
        raise InvalidPolicyError(f"other users can read {file}")
    token = file.read_text().partition("\n")[0].strip()
    if len(token) < 32:
        raise InvalidPolicyError(f"the token in {file} must have at least 32 characters")
    return token


def _call(text: str) -> str:
    """Return an entry of `calls` with the address of its package as in `name_of`."""
    package, *path = text.split("::")
    address = _short(Address.parse(package))
    if len(address) < 10 and len(path) < 2:
        raise InvalidPolicyError(f"{text}: name each function of a system package separately")
    return "::".join((address, *path))


async def serve(server: RemoteSignerServer, options: dict[str, Any]) -> None:
    """Serve until SIGINT or SIGTERM."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    listener = embedded_server.listening_socket(options.pop("host"), options.pop("port"))
    url = embedded_server.url_of(listener, "https" if "ssl_certfile" in options else "http")
    async with embedded_server.serve_embedded(server.app(), listener, **options):
        sys.stderr.write(f"signing for {server.key.address} at {url}\n")
        await stopped.wait()


def main() -> None:
    """Serve the policy file in the arguments."""
    try:
        asyncio.run(serve(*load(Path(sys.argv[1]))))
    except (InvalidPolicyError, RefusedError, NexusError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
