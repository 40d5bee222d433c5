"""Calls of the compiler's WASM from Python, with its memory, strings and imported functions.

The WASM was built for JavaScript with wasm-bindgen. A string argument is a pointer and a length,
and the callee frees its memory. A string result is also a pointer and a length, and the caller
frees its memory.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from threading import Timer
from typing import Any

import wasmtime

from nexus_tools.sui.localnet.compiler.install import WASM_SHA256

# The compiler recurses deeply, and wasmtime rejects stacks of 2 MiB or more.
_STACK_BYTES = 2_000 * 1024
_WORD_BYTES = 4


class WasmError(Exception):
    """An error for a compiler run that panicked or exceeded its time limit."""


class WasmTimeoutError(WasmError):
    """An error for a compiler run that exceeded its time limit."""


class WasmModule:
    """The compiler as native code.

    The native code is generated once, in about 10 s, and stored in `cache`.
    """

    def __init__(self, wasm: Path, cache: Path) -> None:
        config = wasmtime.Config()
        config.epoch_interruption = True
        config.max_wasm_stack = _STACK_BYTES
        self._engine = wasmtime.Engine(config)
        self._module = self._load(wasm, cache)

    def _load(self, wasm: Path, cache: Path) -> Any:
        native = cache / f"{WASM_SHA256[:16]}-wasmtime-{version('wasmtime')}.cwasm"
        if native.is_file():
            try:
                return wasmtime.Module.deserialize_file(self._engine, str(native))
            except wasmtime.WasmtimeError:
                # Another machine or wasmtime build generated this native code, so the code below
                # generates it again.
                native.unlink()
        module = wasmtime.Module.from_file(self._engine, str(wasm))
        cache.mkdir(parents=True, exist_ok=True)
        partial = native.with_suffix(f".{os.getpid()}")
        partial.write_bytes(module.serialize())
        partial.replace(native)
        return module

    @contextmanager
    def instance(self, timeout_s: float) -> Iterator["WasmInstance"]:
        """Yield a new instance that is interrupted after `timeout_s` seconds.

        Raises `WasmError`.
        """
        timer = Timer(timeout_s, self._engine.increment_epoch)
        timer.daemon = True
        instance = WasmInstance(self._engine, self._module)
        timer.start()
        try:
            yield instance
        except wasmtime.Trap as trap:
            if trap.trap_code is wasmtime.TrapCode.INTERRUPT:
                raise WasmTimeoutError(f"the run did not end within {timeout_s:g} s") from trap
            raise WasmError(instance.complaints or str(trap)) from trap
        finally:
            timer.cancel()
            instance.close()


class WasmInstance:
    """An instance of the compiler. Do not use an instance after a failed call."""

    def __init__(self, engine: Any, module: Any) -> None:
        self._store = wasmtime.Store(engine)
        self._store.set_epoch_deadline(1)
        self._complaints: list[str] = []
        imports = [self._import(item.name, item.type) for item in module.imports]
        instance = wasmtime.Instance(self._store, module, imports)
        self._exports = instance.exports(self._store)
        self._memory = self._exports["memory"]
        self._exports["__wbindgen_start"](self._store)

    def close(self) -> None:
        """Free the memory of the instance.

        The garbage collector cannot free the memory, because imports refer to the instance.
        """
        self._store.close()

    @property
    def complaints(self) -> str:
        """The compiler's console output, for example the message of a panic."""
        return "\n".join(self._complaints)

    def text(self, name: str, *arguments: str) -> str:
        """Call an exported function that takes strings and returns a string."""
        return self._returned_text(name, *self._pass_texts(arguments))

    def verdict(self, name: str, result: str, flag: str, *arguments: str) -> tuple[bool, str]:
        """Call an exported function that returns an object. Return the object's flag and output."""
        handle = self._call(name, *self._pass_texts(arguments))
        output = self._returned_text(f"{result}_output", handle)
        return bool(self._call(f"{result}_{flag}", handle)), output

    def _call(self, name: str, *arguments: int) -> Any:
        return self._exports[name](self._store, *arguments)

    def _pass_texts(self, texts: tuple[str, ...]) -> list[int]:
        return [word for text in texts for word in self._write(text)]

    def _write(self, text: str) -> tuple[int, int]:
        data = text.encode()
        pointer = self._call("__wbindgen_malloc", len(data), 1) & 0xFFFF_FFFF
        self._memory.write(self._store, data, pointer)
        return pointer, len(data)

    def _returned_text(self, name: str, *arguments: int) -> str:
        pointer, length = self._call(name, *arguments)
        return self._take(pointer, length)

    def _take(self, pointer: int, length: int) -> str:
        start = pointer & 0xFFFF_FFFF
        text = bytes(self._memory.read(self._store, start, start + length)).decode()
        self._call("__wbindgen_free", pointer, length, 1)
        return text

    def _import(self, name: str, kind: Any) -> Any:
        """Return the imported function `name`. wasm-bindgen adds `_` and a hash to most names."""
        for prefix, function in self._imports().items():
            if name == prefix or name.startswith(f"{prefix}_"):
                return wasmtime.Func(self._store, kind, function)
        raise WasmError(f"the WASM imports the unknown function {name}")

    def _imports(self) -> dict[str, Callable[..., Any]]:
        return {
            "__wbg_error": self._record_complaint,
            "__wbg_new": lambda: "error",
            "__wbg_stack": self._write_stack,
            "__wbindgen_throw": self._throw,
            "__wbindgen_init_externref_table": lambda: None,
            "now": time.time,
        }

    def _record_complaint(self, pointer: int, length: int) -> None:
        self._complaints.append(self._take(pointer, length).strip())

    def _throw(self, pointer: int, length: int) -> None:
        raise WasmError(self._take(pointer, length))

    def _write_stack(self, target: int, _: Any) -> None:
        """Write an empty stack trace, because no JavaScript stack exists here."""
        pointer, length = self._write("")
        words = b"".join(word.to_bytes(_WORD_BYTES, "little") for word in (pointer, length))
        self._memory.write(self._store, words, target & 0xFFFF_FFFF)
