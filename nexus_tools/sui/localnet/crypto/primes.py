"""Numbers modulo primes: which are prime, which are squares, and of what.

Source: Crandall and Pomerance, "Prime Numbers: A Computational Perspective", algorithms 2.3.5,
2.3.8 and 3.5.2.
"""

_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)


def is_prime(number: int) -> bool:
    """Whether an odd number is a prime, as far as the test of Miller and Rabin tells.

    Composite numbers that pass are made on purpose only, which hashes keep from being done.
    """
    if any(number % base == 0 for base in _BASES):
        return number in _BASES
    twos, odd = _split(number - 1)
    return all(_is_probable_prime(number, base, odd, twos) for base in _BASES)


def _is_probable_prime(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def is_square_modulo(number: int, modulus: int) -> bool:
    """Whether the Jacobi symbol of a number and an odd modulus is 1.

    Modulo a prime that says whether the number is a square, of those that it does not divide: 2 is
    one modulo 17, 3 is none. Modulo a composite number it may be 1 without a square: 2 modulo 15.
    """
    number %= modulus
    symbol = 1
    while number:
        twos, number = _split(number)
        if twos % 2 and modulus % 8 in (3, 5):
            symbol = -symbol
        if number % 4 == modulus % 4 == 3:
            symbol = -symbol
        number, modulus = modulus % number, number
    return modulus == 1 and symbol == 1


def square_root_modulo(number: int, prime: int) -> int:
    """One of the roots of a square modulo an odd prime: the one that the algorithm 2.3.8 finds.

    So 6 for 2 modulo 17, though 11 is one as well: the forms that are made of roots differ.
    """
    number %= prime
    if prime % 4 == 3:
        return pow(number, (prime + 1) // 4, prime)
    if prime % 8 == 5:
        root = pow(number, (prime + 3) // 8, prime)
        if root * root % prime != number:
            root = root * pow(2, (prime - 1) // 4, prime) % prime
        return root
    return _square_root_by_tonelli(number, prime)


def _square_root_by_tonelli(number: int, prime: int) -> int:
    no_square = next(base for base in range(2, prime) if not is_square_modulo(base, prime))
    twos, odd = _split(prime - 1)
    power, generator = pow(number, odd, prime), pow(no_square, odd, prime)
    exponent = 0
    for place in range(twos):
        value = power * pow(generator, exponent, prime) % prime
        if pow(value, 1 << twos - 1 - place, prime) == prime - 1:
            exponent += 1 << place
    return pow(number, (odd + 1) // 2, prime) * pow(generator, exponent // 2, prime) % prime


def _split(number: int) -> tuple[int, int]:
    """How often a number can be halved, and what is left."""
    twos = (number & -number).bit_length() - 1
    return twos, number >> twos
