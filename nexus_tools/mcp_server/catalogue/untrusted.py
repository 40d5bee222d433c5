"""The isolation of errors in untrusted registrations, so that one does not affect the others."""

from collections.abc import Iterator
from contextlib import contextmanager

from nexus_tools.errors import UnreachableError, ValidationError
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.tool import ToolFqn

_log = get_logger("nexus_tools.mcp_server.catalogue.untrusted")


@contextmanager
def leaves_out(fqn: ToolFqn) -> Iterator[None]:
    """Skip a tool or workflow if its processing fails.

    Unexpected exceptions are logged as `left_out`. An unreachable node is not the fault of the
    tool, so that error is passed on.
    """
    try:
        yield
    except ValidationError:
        pass
    except UnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - untrusted documents may cause any exception
        _log.warning("left_out", fqn=str(fqn), cause=in_short(error))
