import hashlib
import shutil
import subprocess

import pytest

from releasing.artifacts import sign, verification, write_digests


@pytest.fixture
def release(tmp_path, key):
    """Return the folder of a signed release, with the key of its signer."""
    folder = tmp_path / "dist"
    folder.mkdir()
    files = [folder / name for name in ("b.whl", "a.tar.gz")]
    for file in files:
        file.write_bytes(file.name.encode())
    sign(write_digests(files, folder), key)
    public = key.with_suffix(".pub").read_text()
    (folder / "allowed_signers").write_text(f"ada {public}")
    return folder


def verify(folder, identity="ada"):
    command = ["sh", "-c", verification(identity)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_signed_release_passes_the_printed_verification(release):
    done = verify(release)
    assert done.returncode == 0, done.stderr
    assert "a.tar.gz: OK\nb.whl: OK" in done.stdout


def test_digests_are_sorted_and_in_the_format_of_sha256sum(release):
    lines = (release / "SHA256SUMS").read_text().splitlines()
    assert lines == [
        f"{hashlib.sha256(name.encode()).hexdigest()}  {name}" for name in ("a.tar.gz", "b.whl")
    ]


@pytest.mark.parametrize("name", ["a.tar.gz", "b.whl", "SHA256SUMS", "SHA256SUMS.sig"])
def test_verification_fails_after_a_change_of_any_file(release, name):
    data = bytearray((release / name).read_bytes())
    data[len(data) // 2] ^= 1
    (release / name).write_bytes(data)
    assert verify(release).returncode != 0


def test_verification_fails_for_another_signer(release, key, tmp_path):
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    sign(release / "SHA256SUMS", other)
    assert verify(release).returncode != 0
    sign(release / "SHA256SUMS", key)
    assert verify(release).returncode == 0
    assert verify(release, identity="eve").returncode != 0


def test_verification_fails_for_a_signature_with_another_purpose(release, key):
    (release / "SHA256SUMS.sig").unlink()
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "git", release / "SHA256SUMS"]
    subprocess.run(command, check=True)
    assert verify(release).returncode != 0


def test_signing_tools_are_installed():
    assert shutil.which("ssh-keygen")
    assert shutil.which("sha256sum")
