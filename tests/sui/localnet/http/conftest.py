"""Whatever loop of asyncio a program runs, the transport is the same."""

from importlib.util import find_spec

import pytest

LOOPS = ["asyncio", "uvloop"] if find_spec("uvloop") else ["asyncio"]  # none for Windows


@pytest.fixture(params=LOOPS)
def anyio_backend(request):
    return "asyncio", {"use_uvloop": request.param == "uvloop"}
