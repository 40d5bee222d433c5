"""Rules for the options of `mcp serve` that let the server spend SUI."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.errors import UsageError


def is_paid(options: Mapping[str, Any]) -> bool:
    """Return whether the wallet pays for calls."""
    return bool(options["on_chain"] or options["workflows"])


def check_payment(options: Mapping[str, Any], *, yes: bool) -> None:
    """Require a budget or `yes` for paid calls, and reject options of paid calls otherwise.

    Raises `budget_missing` and `option_not_applicable`.
    """
    if is_paid(options):
        if options["budget"] is None and not yes:
            raise UsageError(
                "budget_missing",
                "paid calls require a budget",
                hint="Pass --budget SUI to limit what this process spends, or --yes for no limit.",
            )
    elif options["budget"] is not None:
        raise UsageError("option_not_applicable", "--budget needs --on-chain or --workflows")
    elif options["leader_names"]:
        raise UsageError("option_not_applicable", "--leader needs --on-chain or --workflows")
