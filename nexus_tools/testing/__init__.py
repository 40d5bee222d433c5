"""Pytest fixtures for tests that need a Sui network: `localnet`, `wallet`, `publish` and others.

The guide is docs/guides/pytest.md. Start reading in `fixtures`, which has the fixtures' types. The
command `tool validate` uses `move_project`, also if pytest is not installed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
