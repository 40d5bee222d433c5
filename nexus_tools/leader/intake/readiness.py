"""What the log is told of readiness: one warning when it ends, and one line when it is back.

`/readyz` says at each moment what is wrong; a log that did so would repeat itself by the second.
"""

from nexus_tools.leader.intake.watcher import BEGINNING
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.leader")


class Readiness:
    """What was told last, which decides what is news."""

    def __init__(self) -> None:
        self._told = ""
        self._was_troubled = False

    def tell(self, problems: dict[str, str], code: str) -> None:
        """The Leader has these problems at this beat; `code` is of the node's, empty if it is fine.

        While the node is there, what is broken at one beat and mended at the next is no news. What
        is missing may change by the second; that it is of another kind for the node is news.
        """
        if problems == {"watcher": BEGINNING}:
            return
        is_news = bool(problems) and (bool(code) or self._was_troubled)
        self._was_troubled = bool(problems)
        if is_news and (not self._told or code not in ("", self._told)):
            _log.warning("not_ready", **problems)
            self._told = code or "not_ready"
        elif self._told and not problems:
            _log.info("ready")
            self._told = ""
