"""The files of models, which may be missing, damaged or hostile. The extra `intent`."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from nexus_tools.errors import ValidationError

MODEL, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
PICKLE = "pytorch_model.bin"

_MAX_BYTES = 2 * 2**30
_MAX_JSON_BYTES = 2**20

Tensor = np.ndarray[Any, np.dtype[np.float32]]


def invalid_model(file: Path, problem: str) -> ValidationError:
    """Return the error for a file that cannot be used."""
    return ValidationError(
        "intent_model_invalid",
        f"cannot use {file}: {problem}",
        hint=f"Set `intent_model` to a folder with `{MODEL}` and `{TOKENIZER}`. A sentence encoder"
        f" also needs `{CONFIG}` with the `model_type` bert.",
    )


def check_file(file: Path) -> None:
    """Raise `intent_model_invalid` unless a file exists and has a usable size."""
    if not file.is_file():
        has_pickle = file.name == MODEL and file.with_name(PICKLE).is_file()
        reason = f"the file does not exist, and {PICKLE} is not read because it can run code"
        raise invalid_model(file, reason if has_pickle else "the file does not exist")
    size = file.stat().st_size
    if size > _MAX_BYTES:
        raise invalid_model(file, f"expected at most {_MAX_BYTES} bytes, got {size}")


def digest_files(version: str, *files: Path) -> str:
    """Return a digest of the contents of files, and of the version of their use."""
    digest = hashlib.sha256(version.encode())
    for file in files:
        check_file(file)
        try:
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
        except OSError as error:
            raise invalid_model(file, error.strerror or str(error)) from error
    return digest.hexdigest()


def read_json(file: Path) -> Any:
    """Return the JSON document of a small file, or None if the file does not exist."""
    if not file.is_file():
        return None
    try:
        with file.open("rb") as opened:
            content = opened.read(_MAX_JSON_BYTES + 1)
        if len(content) > _MAX_JSON_BYTES:
            raise invalid_model(file, f"expected at most {_MAX_JSON_BYTES} bytes")
        return json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        raise invalid_model(file, f"the file is not a JSON document: {error}") from error


def read_tokenizer(file: Path) -> Tokenizer:
    """Return a tokenizer without padding and truncation."""
    check_file(file)
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:
        raise invalid_model(file, str(error)) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def finite_floats(file: Path, name: str, tensor: "np.ndarray[Any, Any]") -> Tensor:
    """Return a tensor as contiguous float32 values. Raises `intent_model_invalid`."""
    if not np.issubdtype(tensor.dtype, np.floating) or not np.isfinite(tensor).all():
        raise invalid_model(file, f"expected finite floating point numbers in {name}")
    return np.ascontiguousarray(tensor, np.float32)
