"""The log lines about readiness: one warning when it ends, and one line when it is back.

`/readyz` shows the current problems; logging each change would fill the log.
"""

from nexus_tools.leader.intake.watcher import BEGINNING
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.leader")


class Readiness:
    """The state that was logged last, which decides whether a change is logged."""

    def __init__(self) -> None:
        self._logged_state = ""
        self._had_problems = False

    def log_change(self, problems: dict[str, str], code: str) -> None:
        """Log a change of readiness; `code` is the node's error code, empty if it is healthy.

        While the node is healthy, a problem is logged only if two consecutive checks have one.
        While the node is not, it is logged again only if the error code changes, because messages
        may change every second.
        """
        if problems == {"watcher": BEGINNING}:
            return
        is_news = bool(problems) and (bool(code) or self._had_problems)
        self._had_problems = bool(problems)
        if is_news and (not self._logged_state or code not in ("", self._logged_state)):
            _log.warning("not_ready", **problems)
            self._logged_state = code or "not_ready"
        elif self._logged_state and not problems:
            _log.info("ready")
            self._logged_state = ""
