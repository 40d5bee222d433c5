"""The tables of the durable log.

A transaction's number counts from 0 over the whole chain. What belongs to a transaction, its events
and the objects that it wrote, has `number << 16 | place` as its own: so the rows of one transaction
are neighbours, the order of the rows is that of the chain, and what came after a point in it is one
range.
"""

APPLICATION_ID = 0x4E784C67  # "NxLg"
FORMAT = 2
"""The form of the tables and of what has to be in them: since 2, 0x5 and 0xacc."""

PLACE_BITS = 16
"""Bits for the place inside a transaction: more than the 2048 objects and 1024 events allowed."""

TABLES = (
    "CREATE TABLE settings (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE checkpoints (
        number INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        first_transaction INTEGER NOT NULL,
        timestamp_ms INTEGER NOT NULL,
        summary BLOB NOT NULL,
        contents BLOB NOT NULL)""",
    """CREATE TABLE transactions (
        number INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        checkpoint INTEGER NOT NULL,
        data BLOB NOT NULL,
        signatures BLOB NOT NULL,
        effects BLOB NOT NULL,
        inputs BLOB NOT NULL)""",
    # An object that ceased to exist has a row without bytes at the version at which it did.
    """CREATE TABLE objects (
        number INTEGER PRIMARY KEY,
        id BLOB NOT NULL,
        version INTEGER NOT NULL,
        digest BLOB,
        bytes BLOB,
        UNIQUE (id, version))""",
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        package BLOB NOT NULL,
        module TEXT NOT NULL,
        sender BLOB NOT NULL,
        type_address BLOB NOT NULL,
        type_module TEXT NOT NULL,
        type_name TEXT NOT NULL,
        type_params BLOB NOT NULL,
        contents BLOB NOT NULL)""",
    "CREATE INDEX events_by_sender ON events (sender)",
    "CREATE INDEX events_by_module ON events (package, module)",
    "CREATE INDEX events_by_type ON events (type_address, type_module, type_name)",
)
