"""The configuration of a Leader: what an operator sets, with the bounds in which it makes sense.

How long a tool may take is not among it: each tool's definition says that, on chain.
"""

from collections.abc import Collection, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pydantic
from pydantic import Field, field_validator

from nexus_tools.errors import UsageError
from nexus_tools.settings.environment import LEADER_PREFIX, read

MIB = 1024 * 1024

LOOPBACK = ("127.0.0.0/8", "::1/128")
"""The networks of this machine itself, for `allowed_networks`."""
KEY = "{key}"
"""What stands for the key in the URL of a storage."""
_LISTS = ("allowed_networks", "allowed_ports")


class LeaderConfig(pydantic.BaseModel):
    """The configuration of one Leader; times in milliseconds, sizes in bytes."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    journal: Path
    """The SQLite file that remembers what was assigned and what it came to."""

    health_port: int | None = Field(default=None, ge=0, le=65_535)
    """Port of health and metrics; 0 takes a free one, none serves nothing."""

    health_host: IPv4Address | IPv6Address = IPv4Address("127.0.0.1")
    """Address at which health and metrics are served, without authentication or TLS."""

    allow_http: bool = False
    """Whether tools may be called without TLS."""

    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks to connect to although they are private, loopback or otherwise special."""

    allowed_ports: frozenset[int] = frozenset()
    """The only TCP ports to connect to; empty allows all."""

    max_pending: int = Field(default=20_000, ge=1, le=1_000_000)
    """Invocations in hand before reading events pauses."""

    max_concurrent: int = Field(default=4_096, ge=1, le=65_536)
    """Tool calls at the same time, shared fairly: one tool gets a fifth of them at most."""

    max_concurrent_per_tool: int = Field(default=256, ge=1, le=10_000)
    """Calls of one tool at the same time."""

    max_request_bytes: int = Field(default=10 * MIB, ge=1024, le=64 * MIB)
    """The largest body that is sent to a tool."""

    max_response_bytes: int = Field(default=10 * MIB, ge=1024, le=64 * MIB)
    """The largest body that is read of a tool, if its invocation pays for as much."""

    storages: Mapping[str, str] = Field(default_factory=dict)
    """Where values are fetched that are not on chain: `NAME=URL`, the URL with `{key}` in it."""

    max_fetched_bytes: int = Field(default=MIB, ge=1024, le=64 * MIB)
    """The most that is fetched for one invocation of what is not on chain."""

    fetch_timeout_ms: int = Field(default=10_000, ge=10, le=600_000)
    """How long that may take, before the input counts as unfit."""

    first_pause_ms: int = Field(default=200, ge=1, le=60_000)
    """About how long to wait before the second attempt; doubles with each further one."""

    longest_pause_ms: int = Field(default=5_000, ge=1, le=60_000)
    """How long to wait between two attempts at most, unless the tool asks for more."""

    breaker_failures: int = Field(default=8, ge=1, le=10_000)
    """Failures to reach a tool in a row after which it is left alone for a while."""

    breaker_pause_ms: int = Field(default=5_000, ge=1, le=600_000)
    """For how long it is left alone before one call tries again."""

    signing_key: Path | None = None
    """The Ed25519 key in PEM that signs tool calls; without one, tools that sign are not called."""

    check_meta: bool = True
    """Whether to compare the tool's `/meta` with the chain before its first invocation."""

    meta_lifetime_ms: int = Field(default=600_000, ge=1_000, le=86_400_000)
    """For how long the comparison with `/meta` holds."""

    closing_margin_ms: int = Field(default=2_000, ge=0, le=60_000)
    """How long before the end of the own window the last response is awaited."""

    batch_size: int = Field(default=32, ge=1, le=64)
    """Invocations closed by one transaction."""

    batch_bytes: int = Field(default=80 * 1024, ge=1024, le=110 * 1024)
    """Bytes of outcomes in one transaction, of the 128 KiB that a transaction may have."""

    max_transactions: int = Field(default=4, ge=1, le=64)
    """Closing transactions at the same time; outcomes wait for one another while all are sent."""

    max_unpaid_gas_units: int = Field(default=4_000, ge=1_500, le=1_000_000_000)
    """Gas units that the executions of one owner may cost beyond what they pay; then they wait."""

    max_unpaid_tool_mist: int = Field(default=60_000_000, ge=0, le=10**15)
    """MIST that the on-chain tools of one author may cost beyond what their calls pay."""

    clock_interval_ms: int = Field(default=1_000, ge=10, le=60_000)
    """How often the chain's clock is read while something waits for it."""

    heartbeat_ms: int = Field(default=2_000, ge=10, le=60_000)
    """How often the node is asked whether it is there."""

    heartbeat_timeout_ms: int = Field(default=4_000, ge=10, le=60_000)
    """How long the node may take to say so, before the Leader is not ready and connects anew."""

    trouble_pause_ms: int = Field(default=1_000, ge=1, le=60_000)
    """How long to wait after trouble of the Leader's own: a node that is down, no gas."""

    money_interval_ms: int = Field(default=60_000, ge=100, le=3_600_000)
    """How often balance and collateral are read."""

    closed_lines: int = Field(default=10, ge=0, le=10_000)
    """Lines in the log about closed invocations in one second; the rest are counted."""

    stop_timeout_ms: int = Field(default=20_000, ge=0, le=600_000)
    """How long a stop waits for what is running."""

    look_back_ms: int = Field(default=600_000, ge=0)
    """How far back a new journal begins: longer than any invocation stays open."""

    retention_ms: int = Field(default=7 * 86_400_000, ge=0)
    """How long closed invocations stay in the journal."""

    @field_validator(*_LISTS, mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        """Lists may be written with commas, as in the environment."""
        if isinstance(value, str):
            return [part.strip() for part in value.split(",") if part.strip()]
        return value

    @field_validator("storages", mode="before")
    @classmethod
    def _split_storages(cls, value: Any) -> Any:
        """Pairs may be written as `NAME=URL`, alone or with commas."""
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, list | tuple):
            pairs = [part.partition("=") for part in value]
            if len({name for name, _, _ in pairs}) < len(pairs):
                raise ValueError("a storage is named twice")
            return {name: url for name, _, url in pairs}
        return value

    @field_validator("storages")
    @classmethod
    def _check_storages(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name, url in value.items():
            parts = urlsplit(url)  # `parts.port` raises, too
            if not name or parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("write NAME=URL, with an http or https URL")
            if parts.port == 0 or url.count(KEY) != 1 or KEY not in parts.path + parts.query:
                raise ValueError(f"a URL has {KEY} once, behind its host")
        return value

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """What the environment sets (`NEXUS_TOOLS_LEADER_…`), then `overrides`.

        Raises `UsageError` with code `config_invalid` or `variable_unknown`.
        """
        values = read(LEADER_PREFIX, cls.model_fields, environment)
        try:
            return cls.model_validate(values | overrides)
        except pydantic.ValidationError as error:
            wrong = _in_words(error, values.keys() - overrides)
            raise UsageError(
                "config_invalid",
                f"the Leader's configuration is wrong: {wrong}",
                hint="correct it, or remove it to use the default",
            ) from error


def _in_words(error: pydantic.ValidationError, variables: Collection[str]) -> str:
    """Return each wrong value and why, without the value, which may be a slip of the clipboard.

    A value is named as it was given: by its variable, if it is one of `variables`.
    """
    problems = error.errors(include_input=False, include_url=False)
    told = []
    for problem in problems:
        name = ".".join(map(str, problem["loc"][:1])) or "config"
        name = f"{LEADER_PREFIX}{name.upper()}" if name in variables else name
        told.append(f"{name}: {problem['msg'].removeprefix('Value error, ')}")
    return "; ".join(told)
