"""Runtime checks of arguments of public functions."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from nexus_tools import Nexus
from nexus_tools.contracts import Publisher, UpgradeLocks
from nexus_tools.errors import UsageError
from nexus_tools.registry import (
    Administration,
    Executions,
    Invocations,
    LeaderRegistry,
    Questions,
    Schedules,
    ToolRegistry,
    Workflows,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.localnet import Localnet, ThreadedLocalnet
from nexus_tools.sui.support.arguments import validate_arguments

pytestmark = pytest.mark.anyio

SERVICES = (
    *(
        Nexus,
        ToolRegistry,
        Invocations,
        LeaderRegistry,
        Workflows,
        Executions,
        Schedules,
        Questions,
    ),
    *(Administration, Localnet, ThreadedLocalnet, SuiClient, Publisher, UpgradeLocks),
)
NETWORKS = ("at", "connect", "publish")  # of `Nexus`: a network may be a configuration of pysui


class Nothing:
    """A type that no function accepts."""


def is_function(member):
    return inspect.isfunction(member) or inspect.ismethod(member)


def parameters():
    """Yield each parameter of each public function of the services, except those of any type."""
    for service in SERVICES:
        for name, function in inspect.getmembers(service, is_function):
            # The functions of `PackageClient` are helpers of the service methods.
            if name.startswith("_") or function.__qualname__.startswith("PackageClient."):
                continue
            for parameter in inspect.signature(function).parameters.values():
                takes_anything = parameter.annotation is Any or name in NETWORKS
                if parameter.name != "self" and not takes_anything:
                    yield service, name, parameter.name


def arguments(function, parameter):
    """Return arguments that bind, with an invalid value for this parameter."""
    positional, keywords = [], {}
    for candidate in inspect.signature(function).parameters.values():
        is_meant = candidate.name == parameter
        if candidate.kind is candidate.VAR_POSITIONAL:
            positional += [Nothing()] * is_meant
        elif candidate.kind is candidate.VAR_KEYWORD:
            keywords |= {"more": Nothing()} if is_meant else {}
        elif candidate.kind is candidate.KEYWORD_ONLY:
            keywords |= (
                {candidate.name: Nothing()}
                if is_meant or candidate.default is candidate.empty
                else {}
            )
        else:
            positional.append(None if candidate.name == "self" else Nothing())
    return positional, keywords


@pytest.mark.parametrize(
    ("service", "name", "parameter"),
    [pytest.param(*case, id=f"{case[0].__name__}.{case[1]}-{case[2]}") for case in parameters()],
)
async def test_public_functions_reject_arguments_of_wrong_type(service, name, parameter):
    function = getattr(service, name)
    positional, keywords = arguments(function, parameter)

    async def call():
        called = function(*positional, **keywords)
        return await called if inspect.isawaitable(called) else called

    with pytest.raises(UsageError) as caught:
        await call()
    assert caught.value.code == "argument_invalid"
    assert ": expected " in caught.value.message


# --- Unit tests


@validate_arguments
class Service:
    """A service whose functions return their arguments."""

    async def takes(
        self,
        *orders: str,
        amount_mist: int = 0,
        share: float = 0.0,
        names: Sequence[str] = (),
        prices: Mapping[str, int] | None = None,
        known: "Unknown | None" = None,  # noqa: F821 - only for type checkers
        **rest: int,
    ) -> tuple[Any, ...]:
        """Return all arguments."""
        return orders, amount_mist, share, names, prices, known, rest

    def waits(self, milliseconds: int) -> int:
        """Return the argument."""
        return milliseconds


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"amount_mist": 0.5}, "an integer from 0 to 2^64 - 1 for amount_mist, got 0.5"),
        ({"amount_mist": True}, "got True"),
        ({"amount_mist": -1}, "got -1"),
        ({"amount_mist": 2**64}, "got 18446744073709551616"),
        ({"share": "1"}, "a number for share, got '1'"),
        ({"names": "lee"}, "a list of text for names, got 'lee'"),
        ({"names": [1]}, "a list of text for names, got [1]"),
        ({"prices": {"a": "1"}}, "a mapping of text to an integer"),
        ({"prices": {1: 1}}, "a mapping of text to an integer"),
        ({"other": "x"}, "a mapping of text to an integer from 0 to 2^64 - 1 for rest"),
    ],
)
async def test_error_names_the_expected_type(given, words):
    with pytest.raises(UsageError) as caught:
        await Service().takes(**given)
    assert words in caught.value.message


async def test_valid_arguments_are_passed_on():
    valid = {"amount_mist": 2**64 - 1, "share": 1, "names": ["a"], "prices": {"a": 1}, "known": 5}
    result = await Service().takes("a", "b", **valid, more=1)
    assert result == (("a", "b"), *valid.values(), {"more": 1})


def test_sync_function_raises_at_once():
    assert Service().waits(5) == 5
    with pytest.raises(UsageError, match=r"waits: expected .* for milliseconds, got 1\.5"):
        Service().waits(1.5)
