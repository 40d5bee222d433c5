"""The curve edwards25519, on which the group ristretto255 is based.

Source: RFC 8032, sections 5.1 and 5.1.4.
"""

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME
SQUARE_ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)

Point = tuple[int, int, int, int]
"""The extended coordinates (X, Y, Z, T) of a point, with x = X/Z, y = Y/Z and xy = T/Z."""

IDENTITY: Point = (0, 1, 1, 0)

_BASE_X = 0x216936D3CD6E53FEC0A4E231FDD6DC5C692CC7609525A7B2C9562D608F25D51A
_BASE_Y = 4 * pow(5, -1, PRIME) % PRIME
BASE: Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % PRIME)
"""The generator B of the subgroup of prime order."""


def add(first: Point, second: Point) -> Point:
    """Return the sum of two points, which may be equal."""
    x1, y1, z1, t1 = first
    x2, y2, z2, t2 = second
    # This formula does not divide, and it is valid for all pairs of points, including equal points
    # and inverses.
    a = (y1 - x1) * (y2 - x2) % PRIME
    b = (y1 + x1) * (y2 + x2) % PRIME
    c = 2 * t1 * t2 * D % PRIME
    d = 2 * z1 * z2 % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def double(point: Point) -> Point:
    """Return a point added to itself."""
    x, y, z, _ = point
    a, b = x * x % PRIME, y * y % PRIME
    h = a + b
    e = h - (x + y) * (x + y)
    g = a - b
    f = 2 * z * z + g
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def negate(point: Point) -> Point:
    """Return the negative of a point."""
    x, y, z, t = point
    return -x % PRIME, y, z, -t % PRIME


def combine(first: int, point: Point, second: int, other: Point) -> Point:
    """Return first · point + second · other. Each step processes one bit of each scalar."""
    table = (IDENTITY, point, other, add(point, other))
    total = IDENTITY
    for bit_index in range(max(first.bit_length(), second.bit_length()) - 1, -1, -1):
        total = double(total)
        table_index = (first >> bit_index & 1) | (second >> bit_index & 1) << 1
        if table_index:
            total = add(total, table[table_index])
    return total
