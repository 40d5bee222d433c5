"""The parameters of the API: structs from which the OpenAPI document is generated."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request

from nexus_tools.contracts import LeaderState, ToolState
from nexus_tools.errors import NexusError
from nexus_tools.index.api.documents import parse_address
from nexus_tools.index.api.parameter_errors import describe_error
from nexus_tools.index.api.problems import parameter_invalid, problem_of
from nexus_tools.index.queries.activity import InvocationOutcome
from nexus_tools.index.queries.tools import LeaderSort, ToolSort
from nexus_tools.sui.types.address import Address

P = TypeVar("P", bound="Parameters")

MAX_PAGE = 100
MAX_MIST = 2**63 - 1
Limit = Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Maximum number of items.")]
MAX_FQN = 300
MAX_CURSOR = 416
"""The maximum length of a cursor: a digest of 8 bytes and `["FQN"]`, in base64url."""
_BASE64URL = "[A-Za-z0-9_-]"
CURSOR_PATTERN = (
    f"^({_BASE64URL}{{4}}){{3,104}}({_BASE64URL}[AQgw]|{_BASE64URL}{{2}}[AEIMQUYcgkosw048])?$"
)
"""The pattern of cursors, which have at least 9 bytes. `CursorCodec` refuses other texts."""
After = Annotated[
    str,
    Meta(
        description="The `next` of a page with the same parameters. Other texts are refused with"
        " `cursor_invalid`, even if they match the pattern.",
        extra_json_schema={"minLength": 12, "maxLength": MAX_CURSOR, "pattern": CURSOR_PATTERN},
    ),
]
Fqn = Annotated[str, Meta(max_length=MAX_FQN, description="FQN, such as `xyz.example.math.add@1`.")]
Account = Annotated[Address, Meta(description="Whole address of an account.")]
ObjectId = Annotated[Address, Meta(description="Whole object ID.")]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of an operation. Fields in the path of the operation are path parameters."""


class PageParameters(Parameters, frozen=True, kw_only=True):
    """The parameters of a list."""

    limit: Limit = 50
    after: After | None = None


class ToolsParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list of tools."""

    q: Annotated[str, Meta(max_length=200, description="Words to search for.")] | None = None
    domain: (
        Annotated[str, Meta(max_length=253, description="Domain of the FQN, or its first labels.")]
        | None
    ) = None
    state: ToolState | None = None
    owner: Account | None = None
    max_price: (
        Annotated[int, Meta(ge=0, le=MAX_MIST, description="Maximum price in MIST.")] | None
    ) = None
    sort: (
        Annotated[
            ToolSort,
            Meta(
                description="Order. Without `sort`, the results of `q` are ordered by relevance,"
                " and other lists are `newest` first."
            ),
        ]
        | None
    ) = None


class ToolParameters(Parameters, frozen=True):
    """The parameters of a tool."""

    fqn: Fqn


class InvocationsParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list of invocations. `leader` excludes the other filters."""

    tool: Fqn | None = None
    requester: Account | None = None
    execution: ObjectId | None = None
    outcome: (
        Annotated[
            InvocationOutcome,
            Meta(
                description="Kind of outcome. `closed` selects all invocations that are not open,"
                " and `failed` excludes expired invocations."
            ),
        ]
        | None
    ) = None
    leader: (
        Annotated[Address, Meta(description="Leader that closed the invocations. Use it alone.")]
        | None
    ) = None


class IdParameters(Parameters, frozen=True):
    """The parameter of one object."""

    id: ObjectId


class LeadersParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list of leaders."""

    state: LeaderState | None = None
    sort: LeaderSort = LeaderSort.REPUTATION


class WorkflowsParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list of workflows."""

    owner: Account | None = None


class SchedulesParameters(WorkflowsParameters, frozen=True, kw_only=True):
    """The parameters of the list of schedules."""

    workflow: ObjectId | None = None


class ExecutionsParameters(SchedulesParameters, frozen=True, kw_only=True):
    """The parameters of the list of executions."""

    schedule: ObjectId | None = None


class StatsParameters(Parameters, frozen=True):
    """The parameters of the statistics."""

    days: Annotated[int, Meta(ge=1, le=365, description="Number of days.")] = 30


class EventsParameters(Parameters, frozen=True):
    """The parameters of the stream of events."""

    since: (
        Annotated[
            str,
            Meta(
                max_length=64,
                description="The ID of the last event that you received, or 0 for all events."
                " Default: only new events. The header Last-Event-ID has priority.",
            ),
        ]
        | None
    ) = None


class ServersParameters(Parameters, frozen=True):
    """The parameters of the list of MCP servers."""

    cursor: Annotated[str, Meta(max_length=0, description="Empty: the list has one page.")] = ""
    limit: Limit = 30
    search: Annotated[str, Meta(max_length=200, description="Part of the name.")] | None = None
    updated_since: (
        Annotated[
            str,
            Meta(max_length=40, description="Without effect: updates have no known time."),
        ]
        | None
    ) = None
    version: Annotated[str, Meta(max_length=255, description="`latest` or a version.")] | None = (
        None
    )


class ServerVersionsParameters(Parameters, frozen=True):
    """The parameter of the versions of an MCP server."""

    name: Annotated[str, Meta(max_length=200, description="URL-encoded name of the server.")]


class ServerVersionParameters(ServerVersionsParameters, frozen=True):
    """The parameters of one version of an MCP server."""

    version: Annotated[str, Meta(max_length=255, description="`latest` or a version.")]


def parse_parameters(request: Request, kind: type[P]) -> P:
    """Parse the parameters in the query and the path. Raises the problem `parameter_invalid`."""
    return parse_pairs([*request.query_params.multi_items(), *request.path_params.items()], kind)


def parse_pairs(pairs: Sequence[tuple[str, str]], kind: type[P]) -> P:
    """Parse names and values of parameters. Raises the problem `parameter_invalid`."""
    [(name, times)] = Counter(name for name, _ in pairs).most_common(1) or [("", 0)]
    if times > 1:
        raise parameter_invalid(f"the parameter {name[:80]!r} occurs more than once")
    values: dict[str, Any] = dict(pairs)
    if any("\0" in str(value) for value in values.values()):
        raise parameter_invalid("a parameter contains a null character")
    try:
        return msgspec.convert(values, kind, strict=False, dec_hook=parse_address)
    except msgspec.ValidationError as error:
        raise parameter_invalid(describe_error(kind, values, error)) from error
    except NexusError as error:
        raise problem_of(error) from error
