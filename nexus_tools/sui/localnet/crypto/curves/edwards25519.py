"""The curve edwards25519, of which the group ristretto255 is made.

Source: RFC 8032, sections 5.1 and 5.1.4.
"""

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME
SQUARE_ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)

Point = tuple[int, int, int, int]
"""Extended coordinates: x = X/Z, y = Y/Z, xy = T/Z."""

IDENTITY: Point = (0, 1, 1, 0)

_BASE_X = 0x216936D3CD6E53FEC0A4E231FDD6DC5C692CC7609525A7B2C9562D608F25D51A
_BASE_Y = 4 * pow(5, -1, PRIME) % PRIME
BASE: Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % PRIME)
"""B, which generates the subgroup of the prime order."""


def add(first: Point, second: Point) -> Point:
    """The sum of two points; they may be the same."""
    x1, y1, z1, t1 = first
    x2, y2, z2, t2 = second
    # Nothing is divided, and no pair of points needs a formula of its own: not equal ones, not
    # inverses.
    a = (y1 - x1) * (y2 - x2) % PRIME
    b = (y1 + x1) * (y2 + x2) % PRIME
    c = 2 * t1 * t2 * D % PRIME
    d = 2 * z1 * z2 % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def double(point: Point) -> Point:
    """A point added to itself."""
    x, y, z, _ = point
    a, b = x * x % PRIME, y * y % PRIME
    h = a + b
    e = h - (x + y) * (x + y)
    g = a - b
    f = 2 * z * z + g
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def negate(point: Point) -> Point:
    """The inverse of a point."""
    x, y, z, t = point
    return -x % PRIME, y, z, -t % PRIME


def combine(first: int, point: Point, second: int, other: Point) -> Point:
    """[first]point + [second]other, bit by bit of both at once."""
    table = (IDENTITY, point, other, add(point, other))
    total = IDENTITY
    for place in range(max(first.bit_length(), second.bit_length()) - 1, -1, -1):
        total = double(total)
        choice = (first >> place & 1) | (second >> place & 1) << 1
        if choice:
            total = add(total, table[choice])
    return total
