"""A further process of this program, as for a localnet in the background."""

import subprocess

from nexus_tools.cli.framework import child_command


def test_child_process_ignores_modules_in_working_directory(tmp_path):
    for name in ("json", "nexus_tools"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger')")
    done = subprocess.run(
        child_command("--version"), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nexus-tools")
