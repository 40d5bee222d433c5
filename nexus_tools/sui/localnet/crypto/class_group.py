"""The class group of binary quadratic forms with a fixed discriminant, a negative prime.

The order of the group is unknown, so no shortcut exists for a sequence of many doublings. Source:
Long, "Binary Quadratic Forms" (https://github.com/Chia-Network/chiavdf/blob/main/classgroups.pdf).
The prime and the encoding are those of `fastcrypto-vdf`.
"""

import math

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, byte_vector, record

DISCRIMINANT = -int(
    "4080390101490206102067801750685552291425412528983716161454985565795560716833845004659207152503"
    "5809311766374784223356259546926288681264197140533404122998503006026738024932597718306865964688"
    "0130431701571887235267494521588354601996162692814028667549369375739388147965760588898327961934"
    "7902770789061953207866325747708864327315769009839190765716943013935708854055658243676903245686"
    "1257519099968249763543099087718690437846405673527576722037493998259832581566846527825806031702"
    "2864017364086977362859261888935238582175391928170616986127692933068989267598626584604343238973"
    "7049521845230769417696140636288030698887830215613149485135897148487896368642774768920061430225"
    "3923651482917966457404746287781856836828935217763428566431346687706567093084041661821498708493"
    "7664959133826728114979407824040132322796707364126132779833942474017121948435510958833773074239"
    "1198073121589465833677609362668436116144203312494461735357918360857667357985711"
)

_ENCODED: Codec[tuple[bytes, ...]] = record((byte_vector, byte_vector, byte_vector))


class QuadraticForm(Struct, frozen=True):
    """The form ax² + bxy + cy².

    Many forms represent the same group element, but exactly one of these forms is reduced.
    """

    a: int
    b: int
    c: int

    @classmethod
    def of(cls, a: int, b: int) -> "QuadraticForm":
        """Return the form with coefficients a and b. The discriminant determines c."""
        return cls(a, b, (b * b - DISCRIMINANT) // (4 * a))

    @classmethod
    def decode(cls, data: bytes) -> "QuadraticForm":
        """Read the BCS bytes of three big-endian numbers in two's complement. Raises `BcsError`."""
        return cls(*(int.from_bytes(part, "big", signed=True) for part in _ENCODED.decode(data)))

    def encode(self) -> bytes:
        """Return the BCS bytes of the coefficients, each as short as possible."""
        return _ENCODED.encode(tuple(map(signed_bytes, (self.a, self.b, self.c))))

    @property
    def is_in_group(self) -> bool:
        """Whether the form is positive definite and has the discriminant of the group."""
        return self.a > 0 and self.b * self.b - 4 * self.a * self.c == DISCRIMINANT

    def reduced(self) -> "QuadraticForm":
        """Return the reduced form of this group element: -a < b <= a <= c, and b >= 0 if a = c.

        For example, 195751x² + 37615xy + 1807y² with discriminant -3 becomes x² + xy + y².
        """
        a, b, c = self.a, self.b, self.c
        shift = (a - b) // (2 * a)
        b, c = b + 2 * shift * a, a * shift * shift + b * shift + c
        while a > c or (a == c and b < 0):
            shift = (c + b) // (2 * c)
            a, b, c = c, 2 * shift * c - b, c * shift * shift - b * shift + a
        return QuadraticForm(a, b, c)

    def __add__(self, other: "QuadraticForm") -> "QuadraticForm":
        """Return the reduced composition of two forms (algorithm 6.1.1).

        For example, the discriminant -23 has three reduced forms (a, b, c): the identity (1, 1, 6),
        f = (2, 1, 3) and g = (2, -1, 3). The sum f + f is g, and f + g is the identity.
        """
        half_sum, half_difference = (self.b + other.b) // 2, (other.b - self.b) // 2
        common = math.gcd(self.a, other.a, half_sum)
        s, t, u = self.a // common, other.a // common, half_sum // common
        mu, step = _solve(t * u, half_difference * u + s * self.c, s * t)
        extra, _ = _solve(t * step, half_difference - t * mu, s)
        k = mu + step * extra
        m = (k * t - half_difference) // s
        n = (k * t * u - half_difference * u - self.c * s) // (s * t)
        form = QuadraticForm(s * t, common * u - (k * t + m * s), k * m - common * n)
        return form.reduced()


IDENTITY = QuadraticForm.of(1, 1)


def combine(
    first: QuadraticForm, times: int, second: QuadraticForm, second_times: int
) -> QuadraticForm:
    """Return times · first + second_times · second. Both factors must not be negative."""
    # Each step uses one bit of both factors, so they share the doublings, which are at least half
    # of the work.
    table = (IDENTITY, first, second, first + second)
    total = IDENTITY
    for bit_index in reversed(range(max(times.bit_length(), second_times.bit_length()))):
        total = total + total
        table_index = (times >> bit_index & 1) + 2 * (second_times >> bit_index & 1)
        if table_index:
            total = total + table[table_index]
    return total


def signed_bytes(number: int) -> bytes:
    """Return a number as big-endian bytes in two's complement, as short as possible.

    For example, 127 is encoded as 7f, and -128 as 80. The number 128 is encoded as 0080, because 80
    alone would be negative.
    """
    bits = number.bit_length() if number >= 0 else (number + 1).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def _solve(factor: int, result: int, modulus: int) -> tuple[int, int]:
    """Return a solution x of factor · x = result modulo `modulus`, and the step between solutions.

    For example, 4x = 2 modulo 6 has the solution 2. The next solution is 5, so the step is 3.
    """
    common = math.gcd(factor, modulus)
    step = modulus // common
    return result // common * pow(factor // common, -1, step) % step, step
