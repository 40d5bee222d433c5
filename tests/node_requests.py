"""Counting of the requests that clients send to a node."""

from collections import Counter

from nexus_tools.sui.client.connection.connection import Connection


def count_requests(monkeypatch):
    """Return a counter of the requests of all clients by procedure, including streams."""
    counter = Counter()
    call, stream = Connection.call, Connection.stream

    async def counted_call(self, name, **fields):
        counter[name.rpartition("/")[2]] += 1
        return await call(self, name, **fields)

    def counted_stream(self, name, **fields):
        counter[name.rpartition("/")[2]] += 1
        return stream(self, name, **fields)

    monkeypatch.setattr(Connection, "call", counted_call)
    monkeypatch.setattr(Connection, "stream", counted_stream)
    return counter
