"""The guide: its command is typed as it stands, and its code is a test that passes."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "bindings.md").read_text()


def test_the_command_and_the_code_of_the_guide_work(tmp_path, compiler_cache):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    cache = tmp_path / "cache" / "nexus-tools"
    cache.mkdir(parents=True)
    for name in ("sui-move-builder", "wasmtime"):
        (cache / name).symlink_to(compiler_cache / name)
    command = re.search(r"```console\n\$ (.*)\n```", GUIDE)[1]
    code = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)[1]
    (tmp_path / "test_guide.py").write_text(code)
    script = f"set -e\n{command}\n{sys.executable} -m pytest -q -p no:cacheprovider test_guide.py"
    environment = os.environ | {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    done = subprocess.run(
        ["bash"],
        input=script,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
