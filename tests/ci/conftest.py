import os
import shutil
import subprocess

import pytest


@pytest.fixture
def npm(tmp_path):
    """Return a function that runs npm in a folder. npm downloads packages from its registry."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")

    def npm(folder, *arguments, **environment):
        done = subprocess.run(
            [
                "npm",
                "--no-audit",
                "--no-fund",
                "--no-update-notifier",
                "--ignore-scripts",
                *arguments,
            ],
            cwd=folder,
            env=os.environ | environment | {"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return npm
