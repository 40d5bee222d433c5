"""Binary Canonical Serialization (BCS): codecs that are composed of smaller codecs.

A codec reads from bytes at a position and writes to a bytearray. Therefore, nested values are not
copied. Source: the BCS specification (github.com/diem/bcs).
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.support.uleb128 import encode_uleb128, write_uleb128

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

MAX_ULEB128 = 2**32 - 1

Reader = Callable[[bytes, int], tuple[T, int]]
Writer = Callable[[T, bytearray], None]


class BcsError(ValidationError):
    """Bytes that do not encode a value of the expected type in BCS, or a value of another type."""

    def __init__(self, message: str) -> None:
        super().__init__("bcs_invalid", message)


class Codec(Generic[T]):
    """A pair of functions that read and write the values of one type.

    `read(data, position)` returns the value and the position after it. `read` may raise `BcsError`
    or, at the end of the data, `IndexError`. `write(value, out)` appends the encoded value to
    `out`.
    """

    __slots__ = ("read", "write")

    def __init__(self, read: Reader[T], write: Writer[T]) -> None:
        self.read = read
        self.write = write

    def decode(self, data: bytes) -> T:
        """Decode `data`, which must contain exactly one value. Raises `BcsError`."""
        try:
            value, end = self.read(data, 0)
        except IndexError:
            raise BcsError(f"the data ends early, after {len(data)} bytes") from None
        except UnicodeDecodeError as error:
            raise BcsError(f"a string is not UTF-8: {error.reason}") from None
        if end != len(data):
            raise BcsError(f"{len(data) - end} unexpected bytes follow the value")
        return value

    def encode(self, value: T) -> bytes:
        """Return the BCS bytes of `value`. Raises `BcsError` if `value` has another type."""
        out = bytearray()
        try:
            self.write(value, out)
        except (OverflowError, ValueError, TypeError, AttributeError, KeyError) as error:
            raise BcsError(f"{value!r:.80} is not a value of the codec's type: {error}") from None
        return bytes(out)


class _LateCodec(Codec[T]):
    """A codec whose functions are compiled at their first use.

    A program uses only a few of the types that it imports, so compiling all of them would be slow.
    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], tuple[Reader[T], Writer[T]]]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name not in Codec.__slots__:
            raise AttributeError(name)
        self.read, self.write = self._make()
        return getattr(self, name)


def read_uleb128(data: bytes, position: int) -> tuple[int, int]:
    """Read a length or a variant number.

    The number has at most 32 bits, and must be encoded in as few bytes as possible.
    """
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    value, shift = byte & 0x7F, 7
    while True:
        position += 1
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise BcsError("a length has more than five bytes")
    if byte == 0 or value > MAX_ULEB128:
        raise BcsError("a length is not in its shortest form, or is longer than 32 bits")
    return value, position + 1


def _take(data: bytes, position: int, size: int) -> tuple[bytes, int]:
    end = position + size
    if end > len(data):
        raise IndexError
    return data[position:end], end


class UnsignedCodec(Codec[int]):
    """A codec of unsigned little-endian integers of `size` bytes."""

    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        def read(data: bytes, position: int) -> tuple[int, int]:
            end = position + size
            if end > len(data):
                raise IndexError
            return int.from_bytes(data[position:end], "little"), end

        super().__init__(read, lambda value, out: out.extend(value.to_bytes(size, "little")))
        self.size = size


u8, u16, u32, u64, u128, u256 = map(UnsignedCodec, (1, 2, 4, 8, 16, 32))


def _read_boolean(data: bytes, position: int) -> tuple[bool, int]:
    byte = data[position]
    if byte > 1:
        raise BcsError(f"expected 0 or 1 for a boolean, got {byte}")
    return byte == 1, position + 1


boolean: Codec[bool] = Codec(_read_boolean, lambda value, out: out.append(1 if value else 0))


def fixed(size: int, make: Callable[[bytes], T]) -> Codec[T]:
    """Return a codec of values that are `size` bytes long. `make` builds a value from its bytes."""

    def read(data: bytes, position: int) -> tuple[T, int]:
        raw, end = _take(data, position, size)
        return make(bytes(raw)), end

    def write(value: Any, out: bytearray) -> None:
        if len(value) != size:
            raise BcsError(f"expected {size} bytes, got {len(value)}")
        out.extend(value)

    return Codec(read, write)


# Most lengths and all variant numbers are below 128, so they are encoded as one byte. The compiled
# code reads and writes this byte inline, without a function call.


def _read_bytes(data: bytes, position: int) -> tuple[bytes, int]:
    size = data[position]
    size, position = (size, position + 1) if size < 0x80 else read_uleb128(data, position)
    raw, end = _take(data, position, size)
    return bytes(raw), end


def _write_bytes(value: bytes, out: bytearray) -> None:
    size = len(value)
    if size < 0x80:
        out.append(size)
    else:
        write_uleb128(size, out)
    out += value


byte_vector: Codec[bytes] = Codec(_read_bytes, _write_bytes)


def _read_string(data: bytes, position: int) -> tuple[str, int]:
    raw, end = _read_bytes(data, position)
    return raw.decode(), end


string: Codec[str] = Codec(_read_string, lambda value, out: _write_bytes(value.encode(), out))


def vector(element: Codec[T]) -> Codec[tuple[T, ...]]:
    """Return a codec of vectors. The codec reads a vector as a tuple, and writes any sequence."""

    def read(data: bytes, position: int) -> tuple[tuple[T, ...], int]:
        length = data[position]
        length, position = (length, position + 1) if length < 0x80 else read_uleb128(data, position)
        values, read_element = [], element.read
        for _ in range(length):
            value, position = read_element(data, position)
            values.append(value)
        return tuple(values), position

    def write(values: Sequence[T], out: bytearray) -> None:
        length = len(values)
        if length < 0x80:
            out.append(length)
        else:
            write_uleb128(length, out)
        write_element = element.write
        for value in values:
            write_element(value, out)

    return Codec(read, write)


def option(element: Codec[T]) -> Codec[T | None]:
    """Return a codec of an optional value."""

    def read(data: bytes, position: int) -> tuple[T | None, int]:
        present, position = _read_boolean(data, position)
        return element.read(data, position) if present else (None, position)

    def write(value: T | None, out: bytearray) -> None:
        if value is None:
            out.append(0)
        else:
            out.append(1)
            element.write(value, out)

    return Codec(read, write)


def record(elements: Sequence[Codec[Any]]) -> Codec[tuple[Any, ...]]:
    """Return a codec of tuples with one codec for each item."""

    def read(data: bytes, position: int) -> tuple[tuple[Any, ...], int]:
        values = []
        for element in elements:
            value, position = element.read(data, position)
            values.append(value)
        return tuple(values), position

    def write(values: tuple[Any, ...], out: bytearray) -> None:
        for element, value in zip(elements, values, strict=True):
            element.write(value, out)

    return Codec(read, write)


def struct(cls: type[T], *fields: Codec[Any]) -> Codec[T]:
    """Return a codec of the instances of a class. `fields` has a codec for each field, in order."""
    names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined]  # T is a `Struct`
    if len(names) != len(fields):
        raise TypeError(f"{cls.__name__} has {len(names)} fields, got {len(fields)} codecs")
    return _LateCodec(lambda: _struct_functions(cls, names, fields))


def _struct_functions(
    cls: type[T], names: Sequence[str], fields: Sequence[Codec[Any]]
) -> tuple[Reader[T], Writer[T]]:
    """Compile the reader and the writer of a struct. Neither function loops over the fields.

    For a class with an `Address` and a u64, the compiled writer is

        def write(value, out):
            write0(value.owner, out)
            out += value.amount.to_bytes(8, 'little')
    """
    reads = [_read_line(i, codec) for i, codec in enumerate(fields)]
    writes = [_write_line(i, names[i], codec) for i, codec in enumerate(fields)]
    values = ", ".join(f"value{i}" for i in range(len(fields)))
    source = (
        f"def read(data, position):\n{''.join(reads)}    return cls({values}), position\n"
        f"def write(value, out):\n{''.join(writes) or '    pass'}"
    )
    scope: dict[str, Any] = {"cls": cls, "number": int.from_bytes}
    scope |= {f"read{i}": codec.read for i, codec in enumerate(fields)}
    scope |= {f"write{i}": codec.write for i, codec in enumerate(fields)}
    exec(source, scope)  # noqa: S102 - made of numbers, and of names of attributes
    return scope["read"], scope["write"]


def _read_line(place: int, codec: Codec[Any]) -> str:
    """Return the code line that reads the field at an index.

    If the field is an integer, the line reads it without calling a codec.
    """
    if not isinstance(codec, UnsignedCodec):
        return f"    value{place}, position = read{place}(data, position)\n"
    return (
        f"    end = position + {codec.size}\n"
        "    if end > len(data): raise IndexError\n"
        f"    value{place}, position = number(data[position:end], 'little'), end\n"
    )


def _write_line(place: int, name: str, codec: Codec[Any]) -> str:
    """Return the code line that writes the field of this name.

    If the field is an integer, the line writes it without calling a codec.
    """
    if not isinstance(codec, UnsignedCodec):
        return f"    write{place}(value.{name}, out)\n"
    return f"    out += value.{name}.to_bytes({codec.size}, 'little')\n"


def choice(name: str, *variants: tuple[type[Any], Codec[Any]]) -> Codec[Any]:
    """Return a codec of an enum with a class for each variant. The variant number is the index."""
    return _LateCodec(lambda: _choice_functions(name, variants))


def _choice_functions(
    name: str, variants: Sequence[tuple[type[Any], Codec[Any]]]
) -> tuple[Reader[Any], Writer[Any]]:
    readers = [codec.read for _, codec in variants]
    writers = {
        cls: (encode_uleb128(number), codec.write) for number, (cls, codec) in enumerate(variants)
    }

    def read(data: bytes, position: int) -> tuple[Any, int]:
        number = data[position]
        if number < len(readers):
            return readers[number](data, position + 1)
        number, _ = read_uleb128(data, position)
        raise BcsError(f"{name} has no variant {number}")

    def write(value: Any, out: bytearray) -> None:
        number, write_variant = writers[type(value)]
        out += number
        write_variant(value, out)

    return read, write


def unit_enum(cls: type[E]) -> Codec[E]:
    """Return a codec of an `Enum` whose members have no data.

    The variant numbers follow the order in which the members are defined.
    """
    members = list(cls)
    numbers = {member: encode_uleb128(number) for number, member in enumerate(members)}

    def read(data: bytes, position: int) -> tuple[E, int]:
        number = data[position]
        if number < len(members):
            return members[number], position + 1
        number, _ = read_uleb128(data, position)
        raise BcsError(f"{cls.__name__} has no variant {number}")

    return Codec(read, lambda value, out: out.extend(numbers[value]))


def wrapper(cls: type[T], inner: Codec[Any]) -> tuple[type[T], Codec[T]]:
    """Return a variant for `choice`: a class with one field, and the class's codec."""
    return cls, struct(cls, inner)


def lazy(codec: Callable[[], Codec[T]]) -> Codec[T]:
    """Return a codec that calls `codec` at each use.

    Use this function in the codec of a recursive type, which must refer to itself.
    """
    return Codec(
        lambda data, position: codec().read(data, position),
        lambda value, out: codec().write(value, out),
    )


def late(make: Callable[[], Codec[T]]) -> Codec[T]:
    """Return a codec that is built at its first use, so it may use codecs defined later."""

    def functions() -> tuple[Reader[T], Writer[T]]:
        codec = make()
        return codec.read, codec.write

    return _LateCodec(functions)
