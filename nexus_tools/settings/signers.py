"""Signers by URL: a remote signer, or a signer of a plug-in.

The scheme of the URL selects the signer. `https` and `http` select the remote signer. Installed
packages add schemes with entry points of the group `nexus_tools.signers`: the name is the scheme,
and the value is a function that takes the URL and returns a `Signer`.

The fragment of a remote signer's URL is never sent. It contains the address, and may contain the
credentials of this signer: `https://signer.example#0x…&token_file=/run/secrets/token`. Variables
such as `NEXUS_TOOLS_SIGNER_TOKEN_FILE` contain the credentials of signers whose URL has none.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.settings import environment
from nexus_tools.sui.keystore import RemoteSigner, Signer, SignerCredentials
from nexus_tools.sui.types.address import Address

ENTRY_POINTS = "nexus_tools.signers"
_REMOTE = ("https", "http")
_FILES = ("token_file", "certificate", "key", "ca")


def is_signer_url(text: object) -> bool:
    """Return whether a text is the URL of a signer, and not the alias or address of a key."""
    return isinstance(text, str) and "://" in text


def open_signer(url: str) -> Signer:
    """Return the signer of a URL, without a request to it.

    Raises:
        NexusError: `signer_scheme_unknown`, `signer_plugin_failed`, `signer_url_invalid`,
            `signer_address_missing`, `address_invalid`.
    """
    scheme, _, _ = url.partition("://")
    if scheme in _REMOTE:
        return _open_remote(url)
    plugins = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if scheme not in plugins:
        known = sorted({*plugins, *_REMOTE})
        raise UsageError(
            "signer_scheme_unknown",
            f"no signer is installed for URLs that start with {scheme[:80]!r}",
            hint=f"Use one of {', '.join(known)}, or install the package of the signer.",
            details={"known": known},
        )
    return _open_plugin(plugins[scheme], url)


def _open_plugin(plugin: EntryPoint, url: str) -> Signer:
    try:
        signer: Signer = plugin.load()(url)
        if isinstance(signer.address, Address) and callable(signer.sign):
            return signer
        reason = "it did not return a signer with `address` and `sign`"
    except NexusError:
        raise
    except Exception as error:  # noqa: BLE001 - the code of a plug-in
        reason = type(error).__name__
    message = f"the signer for {plugin.name} URLs, {plugin.value}, failed: {reason}"
    hint = "Check the URL, and the documentation of the package that contains this signer."
    raise UsageError("signer_plugin_failed", message, hint=hint)


def _open_remote(url: str) -> Signer:
    address, options = _parse_fragment(url)
    base = url.partition("#")[0]
    credentials = _credentials(options)
    if address is None:
        raise _missing_address(base, credentials)
    return _remote_signer(base, address, credentials)


def _parse_fragment(url: str) -> tuple[Address | None, dict[str, str]]:
    """Return the address and the credentials in a URL's fragment."""
    first, *others = url.partition("#")[2].split("&")
    options = dict(part.split("=", 1) for part in others if "=" in part)
    unknown = [part.partition("=")[0] for part in others if part.partition("=")[0] not in _FILES]
    if unknown or len(options) < len(others):
        names = ", ".join(f"{name}=FILE" for name in _FILES)
        message = f"the URL of the signer is not valid: expected {names} after the address"
        hint = f"Write URL#ADDRESS&{_FILES[0]}=FILE."
        raise UsageError("signer_url_invalid", message, hint=hint)
    try:
        return (Address.parse_whole(first) if first else None), options
    except ValidationError as error:
        error.hint = f"{error.hint} If you omit #ADDRESS, the error shows the signer's address."
        raise


def _credentials(options: Mapping[str, str]) -> SignerCredentials:
    variables = environment.user_variables()
    files = options or {
        name: variables[f"signer_{name}"] for name in _FILES if f"signer_{name}" in variables
    }
    token = None if options else variables.get("signer_token")
    return SignerCredentials(
        token, **{name: Path(file).expanduser() for name, file in files.items()}
    )


def _remote_signer(base: str, address: Address, credentials: SignerCredentials) -> RemoteSigner:
    """Return a remote signer. Without a token, its errors name the variable for the token."""
    signer = RemoteSigner(base, address, credentials)
    if credentials.token is None and credentials.token_file is None:
        signer.unauthorized_hint = (
            f"Set {environment.SIGNER_TOKEN_FILE} to a file whose first line is the token of this"
            " signer, or use a client certificate that the signer accepts."
        )
    return signer


def _missing_address(base: str, credentials: SignerCredentials) -> UsageError:
    """Return the error for a URL without an address, with the address that the signer reports."""
    signer = _remote_signer(base, Address.of(0), credentials)
    hint = "Add the address of your key to the URL, as in URL#ADDRESS."
    try:
        # The caller may run in an event loop, so the request runs in another thread.
        with ThreadPoolExecutor(1) as thread:
            reported = thread.submit(asyncio.run, signer.reported_address()).result()
        hint = f"The signer reports the address {reported}. If this is your key, use"
        hint += f" '{signer.url}#{reported}'."
    except NexusError as error:
        hint += f" The signer did not report an address: {error.message}. {error.hint or ''}"
    message = f"the URL of the signer at {signer.url} does not contain the address of the key"
    return UsageError("signer_address_missing", message, hint=hint.rstrip())
