"""Signers by URL: the remote signer with its credentials, and plug-ins."""

import asyncio
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from nexus_tools.errors import NexusError, NotFoundError, UsageError
from nexus_tools.settings.network_selection import resolve_network_and_key
from nexus_tools.settings.signers import open_signer
from nexus_tools.sui.keystore import KeyPair, RemoteSigner, SignerCredentials
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_variables")]

KEY = KeyPair.from_bytes(b"\0" + bytes(32))
ADDRESS = KEY.address
URL = "https://signer.example:8443/keys/1"


@pytest.fixture
def no_variables(monkeypatch, tmp_path):
    for name in ("TOKEN", "TOKEN_FILE", "CERTIFICATE", "KEY", "CA"):
        monkeypatch.delenv(f"NEXUS_TOOLS_SIGNER_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_url_contains_the_address_which_is_not_sent():
    signer = open_signer(f"{URL}#{ADDRESS}")
    assert isinstance(signer, RemoteSigner)
    assert (signer.url, signer.address) == (URL, ADDRESS)
    assert signer.credentials == SignerCredentials()


def test_url_contains_the_files_of_one_signer(monkeypatch):
    monkeypatch.setenv("NEXUS_TOOLS_SIGNER_TOKEN", "of another signer")
    files = "token_file=/run/token&certificate=/c.pem&key=/k.pem&ca=/ca.pem"
    signer = open_signer(f"{URL}#{ADDRESS}&{files}")
    assert signer.credentials == SignerCredentials(
        None, Path("/run/token"), Path("/c.pem"), Path("/k.pem"), Path("/ca.pem")
    )
    assert signer.url == URL


def test_variables_contain_the_credentials(monkeypatch):
    monkeypatch.setenv("NEXUS_TOOLS_SIGNER_TOKEN", "secret")
    monkeypatch.setenv("NEXUS_TOOLS_SIGNER_CA", "/ca.pem")
    signer = open_signer(f"{URL}#{ADDRESS}")
    assert signer.credentials == SignerCredentials("secret", ca=Path("/ca.pem"))


@pytest.mark.parametrize(
    ("url", "code"),
    [
        (f"{URL}#{ADDRESS}&token=secret", "signer_url_invalid"),
        (f"{URL}#{ADDRESS}&token_file", "signer_url_invalid"),
        (f"{URL}#0x1", "address_invalid"),
        (f"{URL}#secret", "address_invalid"),
        (f"https://user:secret@signer.example#{ADDRESS}", "signer_url_invalid"),
        (f"http://signer.example#{ADDRESS}", "signer_url_invalid"),
        (f"://{ADDRESS}", "signer_scheme_unknown"),
    ],
)
def test_invalid_url_is_refused(url, code):
    with pytest.raises(NexusError) as caught:
        open_signer(url)
    assert caught.value.code == code


@pytest.mark.parametrize("address", ["treasury", "0x12"])
def test_hint_for_an_invalid_address_says_what_is_expected(address):
    with pytest.raises(NexusError) as caught:
        open_signer(f"{URL}#{address}")
    text = f"{caught.value.message}. {caught.value.hint}"
    assert "64" in text
    assert "1 to 64" not in text
    assert "If you omit #ADDRESS, the error shows the signer's address." in text


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("token", ["", "wrong"])
async def test_missing_token_is_explained(serve_app, monkeypatch, token, is_known):
    async def refuse(_request):
        return JSONResponse({"error": {"message": "unknown client"}}, 401)

    if token:
        monkeypatch.setenv("NEXUS_TOOLS_SIGNER_TOKEN", token)
    url = await serve_app(Starlette(routes=[Route("/address", refuse)]))
    full_url = f"{url}#{ADDRESS}" if is_known else url
    with pytest.raises(NexusError) as caught:
        await (await asyncio.to_thread(open_signer, full_url)).check_address()
    assert ("NEXUS_TOOLS_SIGNER_TOKEN_FILE" in caught.value.hint) == (not token)


@pytest.mark.parametrize("is_served", [True, False])
async def test_missing_address_is_suggested_by_the_server(serve_app, is_served):
    async def address(_request):
        return JSONResponse({"address": str(ADDRESS)})

    url = await serve_app(Starlette(routes=[Route("/address", address)] if is_served else []))
    with pytest.raises(UsageError) as caught:
        await asyncio.to_thread(open_signer, url)
    assert caught.value.code == "signer_address_missing"
    assert (f"{url}#{ADDRESS}" in caught.value.hint) == is_served


@pytest.mark.parametrize("reported", [ADDRESS, Address.of(0xB)], ids=["own", "other"])
async def test_reported_address_is_compared_with_the_pinned_address(serve_app, reported):
    async def address(_request):
        return JSONResponse({"address": str(reported)})

    signer = open_signer(
        f"{await serve_app(Starlette(routes=[Route('/address', address)]))}#{ADDRESS}"
    )
    if reported == ADDRESS:
        await signer.check_address()
        return
    with pytest.raises(NexusError) as caught:
        await signer.check_address()
    assert caught.value.code == "signer_address_wrong"


# --- Plug-ins


LEDGER = """
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.keystore import KeyPair

class Ledger:
    def __init__(self, url):
        if url == "ledger://locked":
            raise RuntimeError("secret of the device")
        if url == "ledger://absent":
            raise NotFoundError("ledger_absent", "no device", hint="Connect it.")
        self.address, self.url = KeyPair.from_bytes(bytes(33)).address, url

    async def sign(self, transaction):
        return KeyPair.from_bytes(bytes(33)).sign(transaction)
"""
ENTRY_POINTS = """
[nexus_tools.signers]
ledger = ledger_signer:Ledger
broken = builtins:dict
missing = ledger_signer:Missing
http = ledger_signer:Ledger
"""


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    """Install a package with signers."""
    (tmp_path / "ledger_signer.py").write_text(LEDGER)
    metadata = tmp_path / "ledger_signer-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ledger-signer\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ledger_signer", raising=False)


@pytest.mark.usefixtures("plugins")
def test_scheme_selects_the_plug_in():
    signer = open_signer("ledger://device/0")
    assert signer.address == ADDRESS
    assert signer.url == "ledger://device/0"


@pytest.mark.usefixtures("plugins")
def test_plug_in_cannot_replace_the_remote_signer():
    assert isinstance(open_signer(f"http://127.0.0.1:8700#{ADDRESS}"), RemoteSigner)


@pytest.mark.usefixtures("plugins")
def test_unknown_scheme_is_reported_with_the_known_schemes():
    with pytest.raises(UsageError) as caught:
        open_signer("lodger://device")
    assert caught.value.code == "signer_scheme_unknown"
    assert "broken, http, https, ledger, missing" in caught.value.hint


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize("url", ["ledger://locked", "broken://device", "missing://device"])
def test_failure_of_a_plug_in_is_reported_without_its_message(url):
    with pytest.raises(UsageError) as caught:
        open_signer(url)
    assert caught.value.code == "signer_plugin_failed"
    assert "secret" not in str(caught.value)


@pytest.mark.usefixtures("plugins")
def test_error_of_a_plug_in_for_users_is_shown():
    with pytest.raises(NotFoundError, match="no device"):
        open_signer("ledger://absent")


@pytest.mark.usefixtures("plugins")
def test_program_selects_a_signer_by_its_url():
    network = Network("localnet", "http://127.0.0.1:9000")
    assert resolve_network_and_key(network, "ledger://device")[1].address == ADDRESS
