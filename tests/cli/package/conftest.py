import pytest


@pytest.fixture
def release(monkeypatch, next_package):
    """From here on nexus-tools comes with a package that asks for a migration."""

    def release(package=next_package):
        monkeypatch.setattr("nexus_tools.package.load_package", lambda: package)

    return release
