"""The files beside wheel and sdist: digests, their signature, and the SBOM."""

import hashlib
import subprocess
from collections.abc import Iterable
from pathlib import Path

DIGESTS = "SHA256SUMS"
NAMESPACE = "nexus-tools-release"
"""The namespace of signatures, so that a signature for another purpose is not valid here."""


def write_digests(files: Iterable[Path], folder: Path) -> Path:
    """Write the SHA-256 digests of files in the format of `sha256sum`."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(files, key=lambda file: file.name)
    ]
    digests = folder / DIGESTS
    digests.write_text("".join(lines), encoding="utf-8")
    return digests


def sign(digests: Path, key: Path) -> Path:
    """Sign the digests with an SSH key, or with the key of an agent whose public key is given.

    `ssh-keygen` asks for the passphrase of the key on the terminal.
    """
    command = ("ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(digests))
    signature = digests.with_name(f"{DIGESTS}.sig")
    signature.unlink(missing_ok=True)  # ssh-keygen would ask before it replaces the file
    subprocess.run(command, check=True)
    return signature


def verification(identity: str, signers: str = "allowed_signers") -> str:
    """Return the commands that verify a release, for people who have the file of signers.

    Each line of that file has an identity and a public key.
    """
    return (
        f"ssh-keygen -Y verify -f {signers} -I {identity} -n {NAMESPACE}"
        f" -s {DIGESTS}.sig < {DIGESTS} && sha256sum --check {DIGESTS}"
    )
