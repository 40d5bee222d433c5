"""The log lines about changes of the Leader's readiness.

`/readyz` shows the current problems. A log line for each change of a problem would fill the log.
"""

from nexus_tools.leader.intake.watcher import BEGINNING
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.leader")


class Readiness:
    """The readiness that was logged last, which decides whether a change is logged."""

    def __init__(self) -> None:
        self._logged_state = ""
        self._had_problems = False

    def log_change(self, problems: dict[str, str], code: str) -> None:
        """Log a change of readiness. `code` is the error code of the node or the journal, if any.

        Without a code, problems are logged only if two consecutive checks report problems. With a
        code, a problem is logged again only if the code changes, because the message may change
        every second.
        """
        if problems == {"watcher": BEGINNING}:
            return
        is_news = bool(problems) and (bool(code) or self._had_problems)
        self._had_problems = bool(problems)
        if is_news and (not self._logged_state or code not in ("", self._logged_state)):
            _log.warning("not_ready", **problems, **({"code": code} if code else {}))
            self._logged_state = code or "not_ready"
        elif self._logged_state and not problems:
            _log.info("ready")
            self._logged_state = ""
