"""A transport without a socket, for connections byte by byte."""

import asyncio

import pytest


class Wire(asyncio.Transport):
    """A transport without a socket that stores written data and its reading state."""

    def __init__(self):
        super().__init__()
        self.written = bytearray()
        self.reads = True
        self.closing = False

    def write(self, data):
        self.written += data

    def pause_reading(self):
        self.reads = False

    def resume_reading(self):
        self.reads = True

    def is_closing(self):
        return self.closing

    def close(self):
        self.closing = True


@pytest.fixture
def wire():
    return Wire()
