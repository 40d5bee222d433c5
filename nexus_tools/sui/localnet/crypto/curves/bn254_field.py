"""The fields of BN254's coordinates, which are Fp and Fp2 = Fp[u] / (u² + 1)."""

from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement

PRIME = 0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47

Pair = tuple[int, int]
"""The coefficients of 1 and u of an element of Fp2."""


def square_root(square: int) -> int:
    """Return a square root in Fp. Raises `InvalidElement` for a number that is not a square."""
    root = pow(square, (PRIME + 1) // 4, PRIME)  # correct, as the prime is 3 modulo 4
    if (root * root - square) % PRIME:
        raise InvalidElement
    return root


def add(first: Pair, second: Pair) -> Pair:
    """Return the sum of two elements of Fp2."""
    return (first[0] + second[0]) % PRIME, (first[1] + second[1]) % PRIME


def subtract(first: Pair, second: Pair) -> Pair:
    """Return the difference of two elements of Fp2."""
    return (first[0] - second[0]) % PRIME, (first[1] - second[1]) % PRIME


def multiply(first: Pair, second: Pair) -> Pair:
    """Return the product of two elements of Fp2."""
    (a, b), (c, d) = first, second
    return (a * c - b * d) % PRIME, (a * d + b * c) % PRIME


def scale(number: Pair, factor: int) -> Pair:
    """Return the product of an element of Fp2 and an element of Fp."""
    return number[0] * factor % PRIME, number[1] * factor % PRIME


def negate(number: Pair) -> Pair:
    """Return the additive inverse of an element of Fp2."""
    return -number[0] % PRIME, -number[1] % PRIME


def conjugate(number: Pair) -> Pair:
    """Return an element of Fp2 raised to the power p."""
    # The prime is 3 modulo 4, so -1 is not a square, and u raised to the power p is -u.
    return number[0], -number[1] % PRIME


def inverse(number: Pair) -> Pair:
    """Return the multiplicative inverse of an element of Fp2 that is not zero."""
    # 1 / (2 + u) = (2 - u) / ((2 + u)(2 - u)) = (2 - u) / 5, because u² = -1.
    norm = number[0] * number[0] + number[1] * number[1]
    return scale(conjugate(number), pow(norm, -1, PRIME))


def power(number: Pair, exponent: int) -> Pair:
    """Return an element of Fp2 raised to the power `exponent`."""
    result = (1, 0)
    for bit in f"{exponent:b}":
        result = multiply(result, result)
        if bit == "1":
            result = multiply(result, number)
    return result


def square_root_of_pair(square: Pair) -> Pair:
    """Return a square root in Fp2. Raises `InvalidElement` for an element that is not a square.

    Source: Adj and Rodríguez-Henríquez, "Square root computation over even extension fields"
    (eprint.iacr.org/2012/685), algorithm 9.
    """
    quarter = power(square, (PRIME - 3) // 4)
    root = multiply(quarter, square)
    sign = multiply(quarter, root)
    if sign == (PRIME - 1, 0):
        root = -root[1] % PRIME, root[0]
    else:
        root = multiply(power(add((1, 0), sign), (PRIME - 1) // 2), root)
    if multiply(root, root) != square:
        raise InvalidElement
    return root
