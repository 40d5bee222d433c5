"""The points of the curve BN254, also called alt_bn128, encoded as in arkworks.

G1 is y² = x³ + 3 over Fp. G2 is the set of points of order r on y² = x³ + 3 / (9 + u) over Fp2. A
point is encoded as x, with 32 little-endian bytes for each coefficient and two flags in the highest
bits. Source: EIP-197; `SWFlags` and `Affine` of arkworks. arkworks accepts any x if the infinity
flag is set, and ignores bytes after an element.
"""

from nexus_tools.sui.localnet.crypto.curves import bn254_field as fp2
from nexus_tools.sui.localnet.crypto.curves.bn254_field import PRIME, Pair, square_root
from nexus_tools.sui.localnet.crypto.curves.weierstrass import Curve, InvalidElement, Point

ORDER = 0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001
NUMBER_BYTES = 32
G1_BYTES, G2_BYTES = NUMBER_BYTES, 2 * NUMBER_BYTES

# G1 contains all points of this curve, which has r points. The twisted curve has many more points
# than G2.
G1 = Curve(PRIME, 0, 3, ORDER, (1, 2))
XI: Pair = (9, 1)
_TWIST_B = fp2.scale(fp2.inverse(XI), 3)

TwistPoint = tuple[Pair, Pair] | None
"""The coordinates in Fp2 of a point on the twisted curve, or None for the point at infinity."""

_LARGER, _INFINITY, _FLAGS = 0x80, 0x40, 0xC0


def decode_number(data: bytes, limit: int) -> int:
    """Return a little-endian number below a limit. Raises `InvalidElement`."""
    number = int.from_bytes(data, "little")
    if len(data) != NUMBER_BYTES or number >= limit:
        raise InvalidElement
    return number


def decode_g1(data: bytes) -> Point:
    """Decode the G1 point in the first 32 bytes. Raises `InvalidElement`."""
    x_bytes, flags = _without_flags(data[:G1_BYTES])
    x = decode_number(x_bytes, PRIME)
    if flags == _INFINITY:
        return None
    # For every x, two points exist, with y and -y. The bytes contain only x, so a flag selects one
    # of the two points.
    y = square_root(x * x * x + G1.b)
    return x, y if _is_larger((y, 0)) == (flags == _LARGER) else -y % PRIME


def decode_g2(data: bytes) -> TwistPoint:
    """Decode the G2 point in the first 64 bytes. Raises `InvalidElement`."""
    x_bytes, flags = _without_flags(data[:G2_BYTES])
    real, imaginary = x_bytes[:NUMBER_BYTES], x_bytes[NUMBER_BYTES:]
    x = decode_number(real, PRIME), decode_number(imaginary, PRIME)
    if flags == _INFINITY:
        return None
    y = fp2.square_root_of_pair(fp2.add(fp2.multiply(fp2.multiply(x, x), x), _TWIST_B))
    point = x, y if _is_larger(y) == (flags == _LARGER) else fp2.negate(y)
    if not _has_order_r(point):
        raise InvalidElement
    return point


def encode_g1(point: Point) -> bytes:
    """Encode a G1 point as 32 bytes."""
    if point is None:
        return _with_flags((0,), _INFINITY)
    return _with_flags(point[:1], _LARGER if _is_larger((point[1], 0)) else 0)


def encode_g2(point: TwistPoint) -> bytes:
    """Encode a G2 point as 64 bytes."""
    if point is None:
        return _with_flags((0, 0), _INFINITY)
    return _with_flags(point[0], _LARGER if _is_larger(point[1]) else 0)


def _without_flags(data: bytes) -> tuple[bytes, int]:
    flags = data[-1] & _FLAGS if data else _FLAGS
    if flags == _FLAGS:
        raise InvalidElement
    return data[:-1] + bytes([data[-1] ^ flags]), flags


def _with_flags(x: tuple[int, ...], flags: int) -> bytes:
    data = bytearray(b"".join([coefficient.to_bytes(NUMBER_BYTES, "little") for coefficient in x]))
    data[-1] |= flags
    return bytes(data)


def _is_larger(y: Pair) -> bool:
    """Return whether y is larger than -y. The coefficient of u is compared first."""
    return y[::-1] > fp2.negate(y)[::-1]


# --- The twisted curve


def negate(point: TwistPoint) -> TwistPoint:
    """Return the negative of a point."""
    return point and (point[0], fp2.negate(point[1]))


def slope(first: tuple[Pair, Pair], second: tuple[Pair, Pair]) -> Pair:
    """Return the slope of the line through two points, or of the tangent if they are equal.

    The line must not be vertical.
    """
    (x1, y1), (x2, y2) = first, second
    if first == second:
        tripled = fp2.scale(fp2.multiply(x1, x1), 3)
        return fp2.multiply(tripled, fp2.inverse(fp2.scale(y1, 2)))
    return fp2.multiply(fp2.subtract(y2, y1), fp2.inverse(fp2.subtract(x2, x1)))


def third_point(first: tuple[Pair, Pair], second: tuple[Pair, Pair], by: Pair) -> tuple[Pair, Pair]:
    """Return the sum of two points, given the slope of their line."""
    (x1, y1), (x2, _) = first, second
    x = fp2.subtract(fp2.subtract(fp2.multiply(by, by), x1), x2)
    return x, fp2.subtract(fp2.multiply(by, fp2.subtract(x1, x)), y1)


def _sum(first: TwistPoint, second: TwistPoint) -> TwistPoint:
    if first is None or second is None:
        return first or second
    if first[0] == second[0] and first[1] != second[1]:
        return None
    return third_point(first, second, slope(first, second))


def _has_order_r(point: TwistPoint) -> bool:
    # r times a point is infinity only for the points of G2. The loop runs from the highest bit to
    # the lowest, as in the pairing.
    total: TwistPoint = None
    for bit in f"{ORDER:b}":
        total = _sum(total, total)
        if bit == "1":
            total = _sum(total, point)
    return total is None
