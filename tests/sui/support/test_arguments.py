"""Public functions refuse what they do not take in words, before anything is sent."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from nexus_tools import Nexus
from nexus_tools.contracts import Publisher, UpgradeLocks
from nexus_tools.errors import UsageError
from nexus_tools.registry import (
    Administration,
    Asks,
    Executions,
    Invocations,
    LeaderRegistry,
    Schedules,
    ToolRegistry,
    Workflows,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.localnet import Localnet, ThreadedLocalnet
from nexus_tools.sui.support.arguments import checks_arguments

pytestmark = pytest.mark.anyio

SERVICES = (
    *(Nexus, ToolRegistry, Invocations, LeaderRegistry, Workflows, Executions, Schedules, Asks),
    *(Administration, Localnet, ThreadedLocalnet, SuiClient, Publisher, UpgradeLocks),
)
NETWORKS = ("at", "connect", "publish")  # of `Nexus`: a network may be a configuration of pysui


class Nothing:
    """What no function takes."""


def parameters():
    """Each parameter of each public function of the services, those that take anything left out."""
    for service in SERVICES:
        for name, function in inspect.getmembers(service, inspect.isroutine):
            # The functions of `PackageClient` are those that verbs are made of.
            if name.startswith("_") or function.__qualname__.startswith("PackageClient."):
                continue
            for parameter in inspect.signature(function).parameters.values():
                takes_anything = parameter.annotation is Any or name in NETWORKS
                if parameter.name != "self" and not takes_anything:
                    yield service, name, parameter.name


def arguments(function, parameter):
    """Arguments that can be bound, of which that parameter is none that the function takes."""
    given, named = [], {}
    for each in inspect.signature(function).parameters.values():
        is_meant = each.name == parameter
        if each.kind is each.VAR_POSITIONAL:
            given += [Nothing()] * is_meant
        elif each.kind is each.VAR_KEYWORD:
            named |= {"more": Nothing()} if is_meant else {}
        elif each.kind is each.KEYWORD_ONLY:
            named |= {each.name: Nothing()} if is_meant or each.default is each.empty else {}
        else:
            given.append(None if each.name == "self" else Nothing())
    return given, named


@pytest.mark.parametrize(
    ("service", "name", "parameter"),
    [pytest.param(*each, id=f"{each[0].__name__}.{each[1]}-{each[2]}") for each in parameters()],
)
async def test_a_public_function_refuses_an_argument_of_another_type(service, name, parameter):
    function = getattr(service, name)
    given, named = arguments(function, parameter)

    async def call():
        called = function(*given, **named)
        return await called if inspect.isawaitable(called) else called

    with pytest.raises(UsageError) as caught:
        await call()
    assert caught.value.code == "argument_invalid"
    assert " takes " in caught.value.message


# --- The mechanism


@checks_arguments
class Service:
    """Takes what its functions say."""

    async def takes(
        self,
        *orders: str,
        amount_mist: int = 0,
        share: float = 0.0,
        names: Sequence[str] = (),
        prices: Mapping[str, int] | None = None,
        known: "Unknown | None" = None,  # noqa: F821 - a name for type checkers alone
        **rest: int,
    ) -> tuple[Any, ...]:
        """Give all of it back."""
        return orders, amount_mist, share, names, prices, known, rest

    def waits(self, milliseconds: int) -> int:
        """Give it back."""
        return milliseconds


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"amount_mist": 0.5}, "a whole number from 0 to 2^64 - 1 as amount_mist, not 0.5"),
        ({"amount_mist": True}, "not True"),
        ({"amount_mist": -1}, "not -1"),
        ({"amount_mist": 2**64}, "not 18446744073709551616"),
        ({"share": "1"}, "a number as share, not '1'"),
        ({"names": "lee"}, "a list of text as names, not 'lee'"),
        ({"names": [1]}, "a list of text as names, not [1]"),
        ({"prices": {"a": "1"}}, "a mapping of text to a whole number"),
        ({"prices": {1: 1}}, "a mapping of text to a whole number"),
        ({"other": "x"}, "a mapping of text to a whole number from 0 to 2^64 - 1 as rest"),
    ],
)
async def test_a_function_says_what_it_takes(given, words):
    with pytest.raises(UsageError) as caught:
        await Service().takes(**given)
    assert words in caught.value.message


async def test_what_fits_is_taken():
    fits = {"amount_mist": 2**64 - 1, "share": 1, "names": ["a"], "prices": {"a": 1}, "known": 5}
    taken = await Service().takes("a", "b", **fits, more=1)
    assert taken == (("a", "b"), *fits.values(), {"more": 1})


def test_a_function_that_is_not_async_refuses_at_once():
    assert Service().waits(5) == 5
    with pytest.raises(UsageError, match=r"waits takes .* as milliseconds, not 1\.5"):
        Service().waits(1.5)
