"""The configuration of a Leader: the settings of an operator and their valid ranges.

The timeout of a tool is not a setting, because each tool's definition on chain contains it.
"""

from collections.abc import Collection, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pydantic
from pydantic import Field, field_validator

from nexus_tools.errors import UsageError
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.settings.environment import LEADER_PREFIX, read

MIB = 1024 * 1024

LOOPBACK = ("127.0.0.0/8", "::1/128")
"""The loopback networks, for `allowed_networks`."""
KEY = "{key}"
"""The placeholder for the key in the URL of a storage."""
_LIST_SETTINGS = ("allowed_networks", "allowed_ports")


class LeaderConfig(pydantic.BaseModel):
    """The configuration of one Leader. Times are in milliseconds, and sizes are in bytes."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    journal: Path | PostgresUrl
    """SQLite file, or `postgresql://…`, that records assignments and their outcomes."""

    health_port: int | None = Field(default=None, ge=0, le=65_535)
    """Port for health and metrics. 0 selects a free port. If unset, the Leader serves neither."""

    health_host: IPv4Address | IPv6Address = IPv4Address("127.0.0.1")
    """Address for health and metrics, which have no authentication and no TLS."""

    allow_http: bool = False
    """Whether tools may be called without TLS."""

    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Private, loopback or other special-purpose networks to which connections are allowed."""

    allowed_ports: frozenset[int] = frozenset()
    """TCP ports to which connections are allowed. An empty list allows all ports."""

    max_pending: int = Field(default=20_000, ge=1, le=1_000_000)
    """Maximum number of pending invocations. At the limit, the Leader stops reading events."""

    max_concurrent: int = Field(default=4_096, ge=1, le=65_536)
    """Maximum number of concurrent tool calls. One tool gets at most a fifth of this number."""

    max_concurrent_per_tool: int = Field(default=256, ge=1, le=10_000)
    """Maximum number of concurrent calls of one tool."""

    max_request_bytes: int = Field(default=10 * MIB, ge=1024, le=64 * MIB)
    """Maximum size of a request body that is sent to a tool."""

    max_response_bytes: int = Field(default=10 * MIB, ge=1024, le=64 * MIB)
    """Maximum size of a response body. The outcome size of an invocation may lower this limit."""

    storages: Mapping[str, str] = Field(default_factory=dict)
    """Storages of remote values as `NAME=URL`, where the URL contains `{key}`."""

    max_fetched_bytes: int = Field(default=MIB, ge=1024, le=64 * MIB)
    """Maximum total size of the remote values of one invocation."""

    fetch_timeout_ms: int = Field(default=10_000, ge=10, le=600_000)
    """Timeout for fetching the remote values of an invocation, which then fails."""

    retry_delay_ms: int = Field(default=200, ge=1, le=60_000)
    """Approximate delay before the second attempt of a call, which doubles with each attempt."""

    max_retry_delay_ms: int = Field(default=5_000, ge=1, le=60_000)
    """Maximum delay between two attempts of a call, unless the tool requests a longer delay."""

    breaker_failures: int = Field(default=8, ge=1, le=10_000)
    """Consecutive failures to reach a tool after which its calls are paused."""

    breaker_open_ms: int = Field(default=5_000, ge=1, le=600_000)
    """Pause of a tool's calls, after which one trial call checks whether the tool responds."""

    signing_key: Path | None = None
    """PEM file of the Ed25519 key that signs calls. Without a key, tools that sign are skipped."""

    check_meta: bool = True
    """Whether to compare a tool's `/meta` with the chain before its first invocation."""

    meta_lifetime_ms: int = Field(default=600_000, ge=1_000, le=86_400_000)
    """Time for which the result of the comparison with `/meta` is valid."""

    closing_margin_ms: int = Field(default=2_000, ge=0, le=60_000)
    """Safety margin before the leader's window ends, in which the Leader awaits no responses."""

    max_batch_size: int = Field(default=32, ge=1, le=64)
    """Maximum number of invocations that one transaction closes."""

    max_batch_bytes: int = Field(default=80 * 1024, ge=1024, le=110 * 1024)
    """Maximum total size of the outcomes in one transaction. A transaction may have 128 KiB."""

    max_transactions: int = Field(default=4, ge=1, le=64)
    """Maximum number of closing transactions in flight. Further outcomes wait for a batch."""

    max_unpaid_gas_units: int = Field(default=4_000, ge=1_500, le=1_000_000_000)
    """Gas units that one owner's executions may cost beyond their payments before they wait."""

    max_unpaid_tool_mist: int = Field(default=60_000_000, ge=0, le=10**15)
    """MIST that calls of one author's on-chain tools may cost beyond their payments."""

    clock_interval_ms: int = Field(default=1_000, ge=10, le=60_000)
    """Interval between reads of the chain's clock while a task waits for a time."""

    heartbeat_interval_ms: int = Field(default=2_000, ge=10, le=60_000)
    """Interval between health checks of the node."""

    heartbeat_timeout_ms: int = Field(default=4_000, ge=10, le=60_000)
    """Timeout of a health check, after which the Leader is not ready and reconnects."""

    error_retry_delay_ms: int = Field(default=1_000, ge=1, le=60_000)
    """Delay after a failure of the Leader itself, such as an unreachable node or too little gas."""

    balance_interval_ms: int = Field(default=60_000, ge=100, le=3_600_000)
    """Interval between reads of the balances and the collateral."""

    max_closed_log_lines: int = Field(default=10, ge=0, le=10_000)
    """Maximum number of log lines about closed invocations per second. The rest is only counted."""

    stop_timeout_ms: int = Field(default=20_000, ge=0, le=600_000)
    """Time for which a stopping Leader waits for work in progress."""

    lookback_ms: int = Field(default=600_000, ge=0)
    """Age of the oldest events that a new journal reads. Older open invocations are not found."""

    retention_ms: int = Field(default=7 * 86_400_000, ge=0)
    """Time for which the journal stores closed invocations."""

    @field_validator("journal", mode="before")
    @classmethod
    def _parse_journal(cls, value: Any) -> Any:
        return PostgresUrl.parse(value) if isinstance(value, str) and "://" in value else value

    @field_validator(*_LIST_SETTINGS, mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        """Accept a list as comma-separated text, because environment variables contain text."""
        if isinstance(value, str):
            return [part.strip() for part in value.split(",") if part.strip()]
        return value

    @field_validator("storages", mode="before")
    @classmethod
    def _split_storages(cls, value: Any) -> Any:
        """Accept `NAME=URL` pairs as a list or as comma-separated text."""
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, list | tuple):
            pairs = [part.partition("=") for part in value]
            if len({name for name, _, _ in pairs}) < len(pairs):
                raise ValueError("expected different storage names, got the same name twice")
            return {name: url for name, _, url in pairs}
        return value

    @field_validator("storages")
    @classmethod
    def _check_storages(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name, url in value.items():
            parts = urlsplit(url)  # `parts.port` also raises `ValueError`
            if not name or parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("expected NAME=URL with an http or https URL")
            if parts.port == 0 or url.count(KEY) != 1 or KEY not in parts.path + parts.query:
                raise ValueError(f"expected a URL with {KEY} exactly once in its path or query")
        return value

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """Read the environment (`NEXUS_TOOLS_LEADER_…`), then apply `overrides`.

        Raises:
            UsageError: A setting is invalid (`config_invalid`) or does not exist
                (`variable_unknown`).
        """
        values = read(LEADER_PREFIX, cls.model_fields, environment)
        try:
            return cls.model_validate(values | overrides)
        except pydantic.ValidationError as error:
            wrong = _describe_errors(error, values.keys() - overrides)
            raise UsageError(
                "config_invalid",
                f"the Leader's configuration is invalid: {wrong}",
                hint="Correct the setting, or remove it to use the default.",
            ) from error


def _describe_errors(error: pydantic.ValidationError, variables: Collection[str]) -> str:
    """Describe each invalid setting. Omit the value, because it may be a secret.

    The description of a setting in `variables` contains the name of its environment variable.
    """
    problems = error.errors(include_input=False, include_url=False)
    descriptions = []
    for problem in problems:
        name = ".".join(map(str, problem["loc"][:1])) or "config"
        name = f"{LEADER_PREFIX}{name.upper()}" if name in variables else name
        descriptions.append(f"{name}: {problem['msg'].removeprefix('Value error, ')}")
    return "; ".join(descriptions)
