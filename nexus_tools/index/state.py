"""The current state of tools, leaders and collateral, derived from events."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from nexus_tools.contracts import LeaderState, RegistryEvent, ToolState
from nexus_tools.contracts.move_bindings import collateral as moves
from nexus_tools.contracts.move_bindings.leader import LeaderActivityChanged, LeaderRegistered
from nexus_tools.contracts.move_bindings.owner import OwnershipAccepted
from nexus_tools.contracts.move_bindings.tool import (
    ToolAcceptsAnyLeader,
    ToolLeaderChanged,
    ToolRegistered,
    ToolTakenOver,
    ToolUpdated,
)
from nexus_tools.index.addresses import AddressNumbers
from nexus_tools.index.event_rows import StateEvent, limited
from nexus_tools.index.workflow_state import WorkflowState
from nexus_tools.sui.types.address import Address


class State:
    """The tables of the current state. `last_change` is the number of the last change of a tool."""

    def __init__(
        self, connection: sqlite3.Connection, numbers: AddressNumbers, last_change: int
    ) -> None:
        self._connection = connection
        self._numbers = numbers
        self._workflows = WorkflowState(connection, numbers)
        self.last_change = last_change

    def apply(self, stored: StateEvent) -> None:
        """Apply an event. Events must be applied in their order."""
        handler = self._HANDLERS.get(type(stored.event))
        if handler is None:
            self._workflows.apply(stored)
        else:
            handler(self, stored, stored.event)

    def _execute(self, statement: str, *values: Any) -> None:
        self._connection.execute(statement, values)

    def _number(self, address: Address, stored: StateEvent) -> int:
        return self._numbers.number(address, stored.checkpoint)

    def _next_change(self) -> int:
        self.last_change += 1
        return self.last_change

    # --- Tools

    def _register_tool(self, stored: StateEvent, event: ToolRegistered) -> None:
        unversioned, _, version = event.fqn.partition("@")
        domain, _, name = unversioned.rpartition(".")
        values = {
            "id": stored.subject,
            "fqn": event.fqn,
            "domain": domain,
            "name": name,
            "version": version,
            "tool_type": event.tool_type,
            "name_object": self._number(event.name, stored),
            "owner": self._number(event.owner, stored),
            "url": event.url,
            "description": event.description,
            "timeout_ms": limited(event.timeout_ms),
            "price_mist": limited(event.price_mist),
            "payout": self._number(event.payout, stored),
            "accepts_any_leader": not event.leaders,
            "requires_signed_outcome": False,
            "revision": 0,
            "registration": event.index,
            "registered_at_ms": event.registered_at_ms,
            "state": self._collateral_state(stored.subject),
            "checkpoint": stored.checkpoint,
            "seq": stored.seq,
            "change": self._next_change(),
        }
        self._insert("tools", values)
        self._execute("DELETE FROM removed_tools WHERE tool = ?", stored.subject)
        self._list_leaders(stored, event.leaders)

    def _update_tool(self, stored: StateEvent, event: ToolUpdated) -> None:
        self._execute(
            "UPDATE tools SET url = ?, description = ?, timeout_ms = ?, price_mist = ?, payout = ?,"
            " requires_signed_outcome = ?, revision = ?, change = ? WHERE id = ?",
            event.url,
            event.description,
            limited(event.timeout_ms),
            limited(event.price_mist),
            self._number(event.payout, stored),
            event.requires_signed_outcome,
            limited(event.revision),
            self._next_change(),
            stored.subject,
        )

    def _change_leader(self, stored: StateEvent, event: ToolLeaderChanged) -> None:
        leader = self._number(event.leader, stored)
        if event.added:
            self._execute(
                "INSERT OR IGNORE INTO tool_leaders VALUES (?, ?)", stored.subject, leader
            )
            self._set_accepts_any(stored, accepts_any=False)
        else:
            self._execute(
                "DELETE FROM tool_leaders WHERE tool = ? AND leader = ?", stored.subject, leader
            )
            self._execute(
                "UPDATE tools SET change = ? WHERE id = ?", self._next_change(), stored.subject
            )

    def _accept_any(self, stored: StateEvent, _event: ToolAcceptsAnyLeader) -> None:
        self._list_leaders(stored, ())
        self._set_accepts_any(stored, accepts_any=True)

    def _take_over(self, stored: StateEvent, event: ToolTakenOver) -> None:
        self._list_leaders(stored, event.leaders)
        if event.leaders:
            self._set_accepts_any(stored, accepts_any=False)

    def _set_accepts_any(self, stored: StateEvent, *, accepts_any: bool) -> None:
        self._execute(
            "UPDATE tools SET accepts_any_leader = ?, change = ? WHERE id = ?",
            accepts_any,
            self._next_change(),
            stored.subject,
        )

    def _list_leaders(self, stored: StateEvent, leaders: tuple[Address, ...]) -> None:
        """Replace the leaders that a tool lists."""
        self._execute("DELETE FROM tool_leaders WHERE tool = ?", stored.subject)
        for leader in leaders:
            number = self._number(leader, stored)
            self._execute(
                "INSERT OR IGNORE INTO tool_leaders VALUES (?, ?)", stored.subject, number
            )

    def save_words(self, tool: int, seq: int, words: str) -> None:
        """Store the words of a tool's definition, unless the tool was removed since."""
        updated = self._connection.execute(
            "UPDATE tools SET definition_pending = 0, change = ? WHERE id = ? AND seq = ?",
            (self.last_change + 1, tool, seq),
        )
        if updated.rowcount:
            self.last_change += 1
            self._execute("INSERT OR REPLACE INTO definitions VALUES (?, ?, ?)", tool, seq, words)

    # --- Leaders

    def _register_leader(self, stored: StateEvent, event: LeaderRegistered) -> None:
        values = {
            "id": stored.subject,
            "name": event.name,
            "owner": self._number(event.owner, stored),
            "accepting": False,
            "state": self._leader_state(stored.subject, accepting=False),
            "registration": event.index,
            "registered_at_ms": event.registered_at_ms,
            "checkpoint": stored.checkpoint,
        }
        self._insert("leaders", values)

    def _change_activity(self, stored: StateEvent, event: LeaderActivityChanged) -> None:
        self._execute(
            "UPDATE leaders SET accepting = ?, state = ? WHERE id = ?",
            event.active,
            self._leader_state(stored.subject, accepting=event.active),
            stored.subject,
        )

    def _leader_state(self, leader: int, *, accepting: bool) -> str:
        state = self._collateral_state(leader)
        return LeaderState.INACTIVE if state == ToolState.ACTIVE and not accepting else state

    # --- Collateral and ownership

    def _lock(self, stored: StateEvent, event: moves.CollateralLocked) -> None:
        amount_mist = limited(event.amount_mist)
        self._execute(
            "INSERT OR REPLACE INTO collateral VALUES (?, ?, ?, NULL, ?)",
            stored.subject,
            amount_mist,
            amount_mist,
            ToolState.ACTIVE,
        )
        self._propagate_collateral(stored.subject)

    def _change_collateral(self, stored: StateEvent, event: RegistryEvent) -> None:
        row = self._connection.execute(
            "SELECT required_mist, balance_mist, unregistered_at_ms FROM collateral"
            " WHERE object = ?",
            (stored.subject,),
        ).fetchone()
        if row is None:  # the node has pruned the registration
            return
        required_mist, balance_mist, unregistered_at_ms = row
        match event:
            case moves.Unregistered():
                unregistered_at_ms = event.unregistered_at_ms
            case moves.UnregistrationCancelled():
                unregistered_at_ms = None
            case moves.CollateralClaimed():
                balance_mist = limited(event.locked_for_slash_mist)
                if not balance_mist:
                    required_mist, unregistered_at_ms = 0, None
            case moves.CollateralToppedUp():
                balance_mist += limited(event.amount_mist)
            case moves.Slashed():
                balance_mist = limited(event.remaining_mist)
        state = _state_of(required_mist, balance_mist, unregistered_at_ms)
        self._execute(
            "INSERT OR REPLACE INTO collateral VALUES (?, ?, ?, ?, ?)",
            *(stored.subject, required_mist, balance_mist, unregistered_at_ms, state),
        )
        self._propagate_collateral(stored.subject)

    def _propagate_collateral(self, subject: int) -> None:
        """Update the state of the tool or leader that has this collateral, if it is known."""
        state = self._collateral_state(subject)
        updated = self._connection.execute(
            "UPDATE tools SET state = ?, change = ? WHERE id = ?",
            (state, self.last_change + 1, subject),
        )
        self.last_change += updated.rowcount
        self._execute(
            "UPDATE leaders SET state = CASE WHEN ? = 'active' AND NOT accepting THEN 'inactive'"
            " ELSE ? END WHERE id = ?",
            *(state, state, subject),
        )

    def _collateral_state(self, subject: int) -> str:
        row = self._connection.execute(
            "SELECT state FROM collateral WHERE object = ?", (subject,)
        ).fetchone()
        return ToolState.ACTIVE if row is None else str(row[0])

    def _accept_ownership(self, stored: StateEvent, event: OwnershipAccepted) -> None:
        """Set the owner of a leader, or of the tools and workflows with a name."""
        owner = self._number(event.owner, stored)
        self._execute("UPDATE leaders SET owner = ? WHERE id = ?", owner, stored.subject)
        self._execute("UPDATE workflows SET owner = ? WHERE name_object = ?", owner, stored.subject)
        for (tool,) in self._connection.execute(
            "SELECT id FROM tools WHERE name_object = ?", (stored.subject,)
        ).fetchall():
            change = self._next_change()
            self._execute(
                "UPDATE tools SET owner = ?, change = ? WHERE id = ?", owner, change, tool
            )

    def _insert(self, table: str, values: Mapping[str, Any]) -> None:
        marks = ", ".join("?" * len(values))
        self._execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})",  # noqa: S608 - constant names
            *values.values(),
        )

    _HANDLERS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        ToolRegistered: _register_tool,
        ToolUpdated: _update_tool,
        ToolLeaderChanged: _change_leader,
        ToolAcceptsAnyLeader: _accept_any,
        ToolTakenOver: _take_over,
        LeaderRegistered: _register_leader,
        LeaderActivityChanged: _change_activity,
        moves.CollateralLocked: _lock,
        moves.Unregistered: _change_collateral,
        moves.UnregistrationCancelled: _change_collateral,
        moves.CollateralClaimed: _change_collateral,
        moves.CollateralToppedUp: _change_collateral,
        moves.Slashed: _change_collateral,
        OwnershipAccepted: _accept_ownership,
    }


def _state_of(required_mist: int, balance_mist: int, unregistered_at_ms: int | None) -> str:
    """Return the state that `ToolView.state` computes from collateral."""
    if not required_mist:
        return ToolState.CLAIMED
    if unregistered_at_ms is not None:
        return ToolState.UNREGISTERED
    return ToolState.ACTIVE if balance_mist == required_mist else ToolState.SUSPENDED
