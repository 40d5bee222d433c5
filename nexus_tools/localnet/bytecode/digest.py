"""The digest of a package, by which an upgrade is authorized and a build is compared."""

import hashlib
from collections.abc import Iterable


def package_digest(modules: Iterable[bytes], dependencies: Iterable[bytes]) -> bytes:
    """BLAKE2b-256 of the sorted hashes of the modules and ids of the dependencies (32 bytes each).

    Source: `MovePackage::compute_digest_for_modules_and_deps` in `sui-types/src/move_package.rs`.
    """
    parts = [_hash(module) for module in modules]
    return _hash(b"".join(sorted([*parts, *dependencies])))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
