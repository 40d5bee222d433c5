"""The event loops that run the transport tests."""

from importlib.util import find_spec

import pytest

LOOPS = ["asyncio", "uvloop"] if find_spec("uvloop") else ["asyncio"]  # none for Windows


@pytest.fixture(params=LOOPS)
def anyio_backend(request):
    return "asyncio", {"use_uvloop": request.param == "uvloop"}
