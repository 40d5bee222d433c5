"""The definitions of Sui's interface, which are kept once they were read: reading takes 0.1 s."""

import os
from importlib.util import find_spec
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import DecodeError

from nexus_tools import __version__

SUI_PACKAGE = "sui.rpc.v2"
SUI_FILE = "sui/rpc/v2.proto"

_GENERATED = "sui/sui_grpc/suimsgs"


def load_definitions(cache: Path | None) -> FileDescriptorSet:
    """Descriptors of `sui.rpc.v2` and what it depends on, from a folder in which they are kept.

    They are kept for this version of ours, and the very file that they were read from.
    """
    if cache is None:
        return _read()
    source = generated_code("sui/rpc/v2").stat()
    path = cache / f"sui-rpc-{__version__}-{source.st_mtime_ns:x}-{source.st_size:x}.binpb"
    try:
        return FileDescriptorSet.FromString(path.read_bytes())
    except (OSError, DecodeError):
        definitions = _read()
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(definitions.SerializeToString())
    unfinished.replace(path)
    return definitions


def generated_code(folder: str) -> Path:
    """A file with messages that pysui generated, found without importing it."""
    spec = find_spec("pysui")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pysui is not installed", name="pysui")
    return Path(spec.origin).parent / _GENERATED / folder / "__init__.py"


def _read() -> FileDescriptorSet:
    from nexus_tools.localnet.rpc.definitions import read_definitions  # noqa: PLC0415 - 20 ms

    return read_definitions()
