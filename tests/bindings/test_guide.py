"""The guide: its command is typed as it stands, and its code is a test that passes."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETTINGS = "[mypy]\nstrict = true\n[mypy-nexus_tools.*]\nfollow_imports = silent\n"
STRICT = f"{sys.executable} -m mypy --config-file mypy.ini --cache-dir=cache program.py counter"
GUIDE = (ROOT / "docs" / "bindings.md").read_text()


def test_the_command_and_the_code_of_the_guide_work(tmp_path, compiler_cache):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    cache = tmp_path / "cache" / "nexus-tools"
    cache.mkdir(parents=True)
    for name in ("sui-move-builder", "wasmtime"):
        (cache / name).symlink_to(compiler_cache / name)
    command = re.search(r"```console\n\$ (.*)\n```", GUIDE)[1]
    test, program = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[:2]
    (tmp_path / "test_guide.py").write_text(test)
    (tmp_path / "program.py").write_text(program)
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    run_test = f"{sys.executable} -m pytest -q -p no:cacheprovider test_guide.py"
    script = f"set -e\n{command}\n{run_test}\n{sys.executable} program.py\n{STRICT}"
    environment = os.environ | {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path),
        "MYPYPATH": str(ROOT),
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
    assert "Counter(id=" in done.stdout
