"""The command group `nexus-tools bridge credential`, for credentials of bridged tools."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.bridge.hyperpocket import HyperpocketSettings, credential_store
from nexus_tools.cli.framework import Choice, Session, offline_command, read_secret
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.sui.support.units import in_words

if TYPE_CHECKING:
    from nexus_tools.bridges import Credential, CredentialKey, DeviceAuthorization

_PROFILE = click.option(
    "--for-profile",
    default="default",
    show_default=True,
    help="Hyperpocket profile that uses the credential.",
)
_THREAD = click.option(
    "--thread",
    default="default",
    show_default=True,
    help="ID of the Hyperpocket thread that uses the credential.",
)


@click.group()
def command() -> None:
    """Manage the credentials of bridged tools, by provider.

    The commands store credentials in a file that only you can read, and never print secrets.
    """


@command.command("list")
@offline_command
def list_credentials(session: Session) -> None:
    """List the stored credentials without their secrets."""
    rows = [_row(key, credential) for key, credential in credential_store(session.settings).list()]
    if not session.output.as_json:
        rows = [in_words(row) for row in rows]
    columns = {
        "provider": "Provider",
        "profile": "Profile",
        "thread_id": "Thread",
        "kind": "Kind",
        "expires": "Expires",
        "scopes": "Scopes",
    }
    session.output.table(rows, columns, empty="no credentials")


@command.command("set")
@click.argument("provider")
@click.option(
    "--kind",
    type=Choice(["token", "api_key"]),
    default="token",
    show_default=True,
    help="Type of the credential.",
)
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME",
    help="Name of a secret, if the provider needs several secrets. May be repeated.",
)
@_PROFILE
@_THREAD
@offline_command
def set_credential(
    session: Session,
    *,
    provider: str,
    kind: str,
    fields: tuple[str, ...],
    for_profile: str,
    thread: str,
) -> None:
    """Store a secret for PROVIDER, for example `github`.

    The command reads secrets from stdin, one per line.
    """
    from nexus_tools.bridges import (
        Credential,
        CredentialKey,
        CredentialKind,
    )

    key = CredentialKey(provider, for_profile, thread)
    values = {name: read_secret(name) for name in fields}
    secret = "" if fields else read_secret(provider)
    credential = Credential(CredentialKind(kind), secret, values)
    credential_store(session.settings).put(key, credential)
    session.output.done(f"stored the credential for {provider}")
    if session.output.as_json:
        session.output.document(_row(key, credential))


@command.command("remove")
@click.argument("provider")
@_PROFILE
@_THREAD
@offline_command
def remove_credential(session: Session, *, provider: str, for_profile: str, thread: str) -> None:
    """Delete the credential for PROVIDER."""
    from nexus_tools.bridges import CredentialKey

    key = CredentialKey(provider, for_profile, thread)
    if not credential_store(session.settings).remove(key):
        raise NotFoundError("credential_missing", f"no credential for {provider}")
    session.output.done(f"deleted the credential for {provider}")
    if session.output.as_json:
        session.output.document({"provider": provider, "removed": True})


@command.command("sign-in")
@click.argument("provider")
@click.option(
    "--hyperpocket",
    "settings_file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML file that defines PROVIDER with the kind device_flow.",
)
@click.option(
    "--scope", "scopes", multiple=True, help="Additional scope to request. May be repeated."
)
@_PROFILE
@_THREAD
@offline_command
def sign_in(
    session: Session,
    *,
    provider: str,
    settings_file: Path,
    scopes: tuple[str, ...],
    for_profile: str,
    thread: str,
) -> None:
    """Sign in to PROVIDER in a browser and store the token (OAuth 2.0 device flow)."""
    from nexus_tools import bridges

    store = credential_store(session.settings)
    providers = bridges.auth_providers(HyperpocketSettings.read(settings_file).providers, store)
    found = providers.get(provider)
    if not isinstance(found, bridges.DeviceFlowProvider):
        message = f"{settings_file} does not define a provider {provider} of kind device_flow"
        raise UsageError("provider_incompatible", message)

    def announce(authorization: "DeviceAuthorization") -> None:
        session.output.note(f"open {authorization.url} and enter {authorization.user_code}")

    signing_in = bridges.sign_in(
        found, announce, scopes=frozenset(scopes), profile=for_profile, thread_id=thread
    )
    key = asyncio.run(signing_in)
    session.output.done(f"signed in to {key.provider}")
    if session.output.as_json:
        credential = store.get(key)
        assert credential is not None
        session.output.document(_row(key, credential))


def _row(key: "CredentialKey", credential: "Credential") -> dict[str, Any]:
    expires = credential.expires_at
    return {
        "provider": key.provider,
        "profile": key.profile,
        "thread_id": key.thread_id,
        "kind": credential.kind.value,
        "fields": sorted(credential.fields),
        "expires_at_ms": None if expires is None else int(expires * 1_000),
        "scopes": None if credential.scopes is None else sorted(credential.scopes),
    }
