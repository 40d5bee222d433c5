"""Fixtures for the tests of exports."""

import pytest

from tests.definitions import make_definition


@pytest.fixture
def define():
    """Return a function that makes a tool definition."""
    return make_definition
