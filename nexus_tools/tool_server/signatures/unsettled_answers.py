"""Which leaders took answers of this server that nobody paid: they are refused.

A leader has the answer before the tool is paid. If the invocation is failed or expires then, the
answer was taken for nothing, and the chain does not see that: only the server knows that it gave
one. So it counts, and refuses a leader after its third such answer, until the operator forgives.
Who tells what became of invocations is no matter here.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool_server.signatures.state_file import open_state

MAX_UNPAID = 3
"""How many answers a leader takes for nothing before it is refused."""

KEPT_S = 3_600
"""How long an answer is kept of whose invocation nothing is heard: longer than any is open."""

MAX_KEPT = 100_000
"""How many of them are remembered, about 25 MB; the oldest are forgotten."""

_FORGET_EVERY_S = 16

_log = get_logger("nexus_tools.tool_server")


class TakenAnswers:
    """The answers that leaders took, in a file that the processes of a server share, or in memory.

    After a restart, what was in memory is forgiven. Leaders and invocations are named by their ids
    as Sui writes them in full. Raises `state_unusable`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._file = open_state(path, _SCHEMA)
        self._forgotten_at = 0.0

    def begin(self, leader: str, invocation: str, digest: str, now_s: float) -> bool:
        """A call of a leader begins: from now on it counts if the invocation is failed.

        Not from the answer on: who fails first and takes the answer then has it all the same. False
        if the call before it had another body, of another digest: an invocation pays for one.
        """
        if now_s >= self._forgotten_at + _FORGET_EVERY_S:
            self._forgotten_at = now_s
            self._try(_FORGET_OLD, int(now_s) - KEPT_S, MAX_KEPT)
        if self._try(_BEGIN, leader, invocation, digest, int(now_s)):
            return True
        begun = self._read(_DIGEST_OF, leader, invocation)
        return begun in ([], [(digest,)])

    def end(self, leader: str, invocation: str, *, has_answer: bool) -> None:
        """A call ended, with an answer in time or without one."""
        self._try(_GIVEN if has_answer else _NOT_GIVEN, leader, invocation)
        if has_answer:
            self._tell(leader, invocation)

    def settled(self, invocation: str) -> None:
        """Be told that an invocation was settled: whoever took the answer, the tool was paid."""
        self._try(_SETTLED, invocation)

    def unpaid(self, invocation: str, reason: str) -> None:
        """Be told that an invocation was failed or expired, for a reason of the chain.

        It counts for each leader that took the answer: one that the other leader of the invocation
        closed instead had its whole window to settle it.
        """
        if self._try(_UNPAID, reason, invocation):
            for (leader,) in self._read(_TAKERS, invocation):
                self._tell(leader, invocation)

    def excuse(self, invocations: Iterable[str]) -> None:
        """What was given for these was signed with a key that is none any more: it does not count.

        A call that is repeated counts again, with the answer that it gets then.
        """
        for invocation in invocations:
            self._try(_EXCUSE, invocation)

    def refusal(self, leader: str) -> str:
        """Why a leader is refused, in words; empty if it is not."""
        unpaid = self._read(_OF_LEADER, leader)
        if len(unpaid) < MAX_UNPAID:
            return ""
        told = ", ".join(f"{invocation} ({reason})" for invocation, reason in unpaid)
        return f"{leader} took answers for which this tool was not paid: {told}"

    def forgive(self, leader: str) -> int:
        """Forget the answers that a leader took for nothing; gives how many there were."""
        return self._try(_FORGIVE, leader)

    def pending(self, count: int) -> list[str]:
        """The oldest invocations whose answers were taken, and of which nothing was heard."""
        return [invocation for (invocation,) in self._read(_PENDING, count)]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _tell(self, leader: str, invocation: str) -> None:
        """Log that an answer was taken for nothing, if it was, and what follows."""
        unpaid = dict(self._read(_OF_LEADER, leader))
        if invocation not in unpaid:
            return
        reason = unpaid[invocation]
        _log.warning("answer_unpaid", leader=leader, invocation=invocation, reason=reason)
        if len(unpaid) == MAX_UNPAID:
            hint = f"once this is mended, start the server with `--forgive {leader}`"
            _log.error("leader_refused", leader=leader, invocations=list(unpaid), hint=hint)

    def _try(self, statement: str, *values: object) -> int:
        """Write, and give how many rows changed: a full disk is no reason to answer nobody."""
        try:
            return self._file.execute(statement, values).rowcount
        except sqlite3.Error as error:
            _log.warning("answers_not_kept", why=str(error))
            return 0

    def _read(self, statement: str, *values: object) -> list[Any]:
        try:
            return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            _log.warning("answers_not_read", why=str(error))
            return []


# An answer counts against its leader when it was given and there is a reason; then it stays.
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
_GIVEN = "UPDATE answers SET is_given = 1 WHERE leader = ? AND invocation = ?"
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
# The newest by their numbers: to count them would take longer than all the rest.
_FORGET_OLD = """
    DELETE FROM answers WHERE NOT (reason IS NOT NULL AND is_given)
    AND (began_s < ? OR rowid <= (SELECT max(rowid) FROM answers) - ?)
"""
