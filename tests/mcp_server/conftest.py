"""A catalogue in memory, and a program that serves it."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.definitions import make_definition

HERE = Path(__file__).parent


def _module(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def memory():
    """Return the module of the catalogue in memory."""
    return _module(HERE / "memory_catalogue.py")


@pytest.fixture
def catalogue(memory):
    return memory.MemoryCatalogue()


@pytest.fixture
def stdio_program():
    """Return the command line that serves the catalogue in memory over stdio."""
    return [sys.executable, str(HERE / "memory_catalogue.py")]


@pytest.fixture
def define():
    """Return a function that makes a tool definition."""
    return make_definition
