"""The isolation of errors in untrusted registrations, so that errors do not affect others."""

from collections.abc import Iterator
from contextlib import contextmanager

from nexus_tools.errors import UnreachableError, ValidationError
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.tool import ToolFqn

_log = get_logger("nexus_tools.mcp_server.catalogue.untrusted")


@contextmanager
def skip_on_error(fqn: ToolFqn) -> Iterator[None]:
    """Skip a tool or workflow if its processing fails.

    Unexpected exceptions are logged as `untrusted_entry_skipped`. An unreachable node is not the
    fault of the tool, so this error is passed on.
    """
    try:
        yield
    except ValidationError:
        pass
    except UnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - untrusted documents may cause any exception
        _log.warning("untrusted_entry_skipped", fqn=str(fqn), cause=error_summary(error))
