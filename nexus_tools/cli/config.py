"""The command group `nexus-tools config`, which shows and changes settings."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from nexus_tools.cli.framework import Choice, Session, complete_settings, offline_command
from nexus_tools.errors import NexusError, UsageError
from nexus_tools.settings.lookup import Resolved
from nexus_tools.settings.setting_values import DEFAULT_TIMEOUT
from nexus_tools.settings.settings import Settings
from nexus_tools.settings.settings_file import KEYS
from nexus_tools.sui.support.units import parse_timeout


@click.group()
def command() -> None:
    """Show and change settings."""


@command.command()
@offline_command
def show(session: Session) -> None:
    """Show the settings, and where their values come from."""
    from nexus_tools.sui.network import MAX_GAS_PRICE_MIST

    settings = session.settings
    record = {
        "file": str(settings.config_file),
        "network": settings.network,
        "network_source": _source(settings.locate_network),
        "wallet": settings.wallet or "active key of the keystore",
        "wallet_source": _source(settings.locate_account),
        "signer": settings.get("signer"),
        "keystore": str(settings.keystore),
        "timeout": settings.get("timeout") or DEFAULT_TIMEOUT,
        "max_gas_price": settings.max_gas_price_mist or MAX_GAS_PRICE_MIST,
        "leaders": settings.get("leaders"),
        "trusted_requesters": settings.get("trusted_requesters"),
        "index_url": settings.get("index_url"),
        "intent_model": settings.intent_model,
        "from_environment": sorted(settings.overrides),
    }
    session.output.record(record)


@command.command("set")
@click.argument("key", type=Choice(list(KEYS)))
@click.argument("value", shell_complete=complete_settings)
@offline_command
def set_value(session: Session, key: str, value: str) -> None:
    """Set KEY to VALUE in the configuration file. A network or key must already exist."""
    _check(session.settings, key, value)
    session.settings.values[key] = value
    session.settings.save()
    overridden = session.settings.get(key) != value
    session.report_setting(key, f"{key} is set to {value}", overridden=overridden)
    if session.output.as_json:
        session.output.document({key: value})


@command.command()
@click.argument("key", type=Choice(list(KEYS)))
@offline_command
def unset(session: Session, key: str) -> None:
    """Remove KEY from the configuration file and use its default."""
    was = session.settings.values.pop(key, None)
    session.settings.save()
    overridden = key in session.settings.overrides
    session.report_setting(key, f"{key} is no longer set in the file", overridden=overridden)
    if session.output.as_json:
        session.output.document({key: None, "was": was})


def _check(settings: Settings, key: str, value: str) -> None:
    """Check a value. Raises `setting_empty`, or the error of an unknown network or key."""
    if not value:
        hint = f"Run `nexus-tools config unset {key}` to remove it from the file."
        raise UsageError("setting_empty", f"the value of {key} must not be empty", hint=hint)
    if key == "network":
        settings.find_network(value)
    elif key == "wallet":
        settings.locate_account(value)
    elif key == "signer":
        from nexus_tools.settings.signers import open_signer

        open_signer(value)
    elif key == "timeout":
        parse_timeout(value)
    elif key == "max_gas_price":
        _ = replace(settings, overrides={key: value}).max_gas_price_mist
    elif key == "leaders":
        _ = replace(settings, overrides={key: value}).leaders
    elif key == "trusted_requesters":
        _ = replace(settings, overrides={key: value}).trusted_requesters
    elif key == "index_url":
        _ = replace(settings, overrides={key: value}).index_urls
    elif key == "intent_model":
        from nexus_tools.index.search import load_intent_model

        load_intent_model(value)
    else:
        replace(settings, overrides={key: value}).open_wallet()


def _source(locate: Callable[[], Resolved[Any]]) -> str | None:
    """Return the source of the network or the key, or None if it does not exist."""
    try:
        return locate().source
    except NexusError:
        return None
