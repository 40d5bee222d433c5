"""The record of unpaid answers, which a server uses to reject leaders that do not pay.

A leader receives the answer before the tool is paid. If the invocation then fails or expires, the
tool has worked without payment. Only the server knows that it answered, so the chain cannot detect
unpaid answers. The server therefore counts unpaid answers. After the third unpaid answer, the
server rejects the leader until the operator forgives the leader. Callers report the ends of
invocations to `UnsettledAnswers`.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool_server.signatures.state_file import open_state

MAX_UNPAID = 3
"""The number of unpaid answers after which a leader is rejected."""

RETENTION_S = 3_600
"""The time in seconds for which unsettled answers are stored. Invocations close earlier."""

MAX_KEPT = 100_000
"""The maximum number of stored answers, about 25 MB. The oldest answers are removed first."""

_FORGET_EVERY_S = 16

_log = get_logger("nexus_tools.tool_server")


class UnsettledAnswers:
    """The unsettled and unpaid answers that leaders received.

    The answers are stored in a file that all processes share, or in memory until a restart.
    Leaders and invocations are named by their full Sui IDs. The constructor raises
    `state_unusable`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._file = open_state(path, _SCHEMA)
        self._forgotten_at = 0.0

    def record_call(self, leader: str, invocation: str, digest: str, now_s: float) -> bool:
        """Record a leader's call. If the invocation fails afterwards, the answer counts as unpaid.

        The call is recorded before the answer exists, because a leader may first fail the
        invocation and then receive the answer. Return False if an earlier call for the invocation
        had a body with another digest, because an invocation pays for only one request body.
        """
        if now_s >= self._forgotten_at + _FORGET_EVERY_S:
            self._forgotten_at = now_s
            self._execute(_FORGET_OLD, int(now_s) - RETENTION_S, MAX_KEPT)
        if self._execute(_BEGIN, leader, invocation, digest, int(now_s)):
            return True
        stored_digest = self._read(_DIGEST_OF, leader, invocation)
        return stored_digest in ([], [(digest,)])

    def record_answer(self, leader: str, invocation: str, *, has_answer: bool) -> None:
        """Record the end of a call.

        `has_answer` means that the leader received an answer in time.
        """
        if not has_answer:
            self._execute(_NOT_GIVEN, leader, invocation)
        elif not self._execute(_GIVEN, leader, invocation) and self._execute(
            _GIVEN_UNPAID, leader, invocation
        ):
            self._log_unpaid(leader, invocation)

    def mark_settled(self, invocation: str) -> None:
        """Record that an invocation was settled, so the tool was paid."""
        self._execute(_SETTLED, invocation)

    def mark_unpaid(self, invocation: str, reason: str) -> None:
        """Record that an invocation failed or expired, with its on-chain reason.

        The answer counts as unpaid for each leader that received it. The rule also applies if
        another leader closed the invocation, because each leader had its full window to settle the
        invocation.
        """
        if self._execute(_UNPAID, reason, invocation):
            for (leader,) in self._read(_TAKERS, invocation):
                self._log_unpaid(leader, invocation)

    def excuse(self, invocations: Iterable[str]) -> None:
        """Do not count the answers of invocations, because their signing key is no longer valid.

        If a leader repeats the call, the new answer counts.
        """
        for invocation in invocations:
            self._execute(_EXCUSE, invocation)

    def refusal(self, leader: str) -> str:
        """Return the reason why a leader is rejected, or an empty string."""
        unpaid = self._read(_OF_LEADER, leader)
        if len(unpaid) < MAX_UNPAID:
            return ""
        invocations = ", ".join(f"{invocation} ({reason})" for invocation, reason in unpaid)
        return f"{leader} did not pay this tool for its answers: {invocations}"

    def forgive(self, leader: str) -> int:
        """Delete the unpaid answers of a leader and return their number."""
        return self._execute(_FORGIVE, leader)

    def pending(self, count: int) -> list[str]:
        """Return the oldest answered invocations whose end is not recorded, at most `count`."""
        return [invocation for (invocation,) in self._read(_PENDING, count)]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _log_unpaid(self, leader: str, invocation: str) -> None:
        """Log an answer if it is unpaid, and log if the leader is rejected from now on."""
        unpaid = dict(self._read(_OF_LEADER, leader))
        if invocation not in unpaid:
            return
        reason = unpaid[invocation]
        _log.warning("answer_unpaid", leader=leader, invocation=invocation, reason=reason)
        if len(unpaid) == MAX_UNPAID:
            hint = (
                "After the leader has fixed this, start the server with"
                f" `--forgive-leader {leader}`."
            )
            _log.error("leader_refused", leader=leader, invocations=list(unpaid), hint=hint)

    def _execute(self, statement: str, *values: object) -> int:
        """Execute a statement, and return the number of changed rows.

        If the file cannot be written, log the error and return 0. A full disk must not stop the
        server from answering.
        """
        try:
            return self._file.execute(statement, values).rowcount
        except sqlite3.Error as error:
            _log.warning("answers_not_stored", why=str(error))
            return 0

    def _read(self, statement: str, *values: object) -> list[Any]:
        try:
            return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            _log.warning("answers_not_read", why=str(error))
            return []


# An answer counts as unpaid if it was sent (`is_given`) and its invocation has a failure reason.
# The row of an unpaid answer is stored until the operator forgives the leader.
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS answers (
        leader TEXT NOT NULL,
        invocation TEXT NOT NULL,
        digest TEXT NOT NULL,
        began_s INTEGER NOT NULL,
        is_given INTEGER NOT NULL DEFAULT 0,
        reason TEXT,
        UNIQUE (invocation, leader)
    );
    CREATE INDEX IF NOT EXISTS unpaid_answers ON answers (leader) WHERE reason IS NOT NULL;
"""
_BEGIN = "INSERT OR IGNORE INTO answers (leader, invocation, digest, began_s) VALUES (?, ?, ?, ?)"
_DIGEST_OF = "SELECT digest FROM answers WHERE leader = ? AND invocation = ?"
_GIVEN = """
    UPDATE answers SET is_given = 1 WHERE leader = ? AND invocation = ? AND reason IS NULL
"""
_GIVEN_UNPAID = """
    UPDATE answers SET is_given = 1 WHERE leader = ? AND invocation = ? AND reason IS NOT NULL
"""
_NOT_GIVEN = "DELETE FROM answers WHERE leader = ? AND invocation = ? AND NOT is_given"
_SETTLED = "DELETE FROM answers WHERE invocation = ? AND reason IS NULL"
_UNPAID = "UPDATE answers SET reason = ? WHERE invocation = ? AND reason IS NULL"
_EXCUSE = "UPDATE answers SET is_given = 0 WHERE invocation = ? AND reason IS NULL"
_TAKERS = "SELECT leader FROM answers WHERE invocation = ? AND is_given"
_OF_LEADER = """
    SELECT invocation, reason FROM answers WHERE leader = ? AND reason IS NOT NULL AND is_given
"""
_PENDING = """
    SELECT DISTINCT invocation FROM answers WHERE is_given AND reason IS NULL ORDER BY rowid LIMIT ?
"""
_FORGIVE = "DELETE FROM answers WHERE leader = ? AND reason IS NOT NULL"
# The number of rows is estimated from the row IDs, because counting the rows is slow.
_FORGET_OLD = """
    DELETE FROM answers WHERE NOT (reason IS NOT NULL AND is_given)
    AND (began_s < ? OR rowid <= (SELECT max(rowid) FROM answers) - ?)
"""
