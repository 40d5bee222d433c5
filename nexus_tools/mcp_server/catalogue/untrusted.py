"""What strangers registered and published: what breaks over one of it spoils nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager

from nexus_tools.errors import UnreachableError, ValidationError
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.tool import ToolFqn

_log = get_logger("nexus_tools.mcp_server.catalogue.untrusted")


@contextmanager
def leaves_out(fqn: ToolFqn) -> Iterator[None]:
    """End what is done with a tool or workflow where it is not what it should be.

    What nobody foresaw is logged as `left_out`. That the node is away is no fault of theirs.
    """
    try:
        yield
    except ValidationError:
        pass
    except UnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - the edge to documents of strangers
        _log.warning("left_out", fqn=str(fqn), cause=in_short(error))
