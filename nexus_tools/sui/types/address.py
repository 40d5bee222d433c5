"""Addresses of accounts, objects and packages."""

from typing import Self

from nexus_tools.sui.bcs import Codec, fixed
from nexus_tools.sui.errors import ValidationError

ADDRESS_LENGTH = 32


class Address(bytes):
    """The 32-byte address of an account, an object or a package.

    An `Address` is a `bytes` object and is equal to a `bytes` object with the same bytes. `str()`
    returns the canonical text, which is `0x` and 64 hexadecimal digits.
    """

    __slots__ = ()

    def __new__(cls, value: bytes) -> Self:
        """Create an address from 32 bytes. Raises `address_invalid`."""
        if len(value) != ADDRESS_LENGTH:
            raise ValidationError(
                "address_invalid",
                f"expected {ADDRESS_LENGTH} bytes for an address, got {len(value)}",
            )
        return bytes.__new__(cls, value)

    @classmethod
    def of(cls, number: int) -> Self:
        """Return the address whose integer value is `number`: `Address.of(2)` is `0x2`."""
        return cls(number.to_bytes(ADDRESS_LENGTH, "big"))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `0x` and 1 to 64 hexadecimal digits. Raises `address_invalid`."""
        digits = text[2:]
        if text[:2] not in ("0x", "0X") or not 1 <= len(digits) <= 64 or not digits.isalnum():
            raise _not_an_address(text)
        try:
            return cls(bytes.fromhex(digits.rjust(64, "0")))
        except ValueError:
            raise _not_an_address(text) from None

    @classmethod
    def parse_whole(cls, text: str) -> Self:
        """Parse `0x` and exactly 64 digits. Use this method for the address of a recipient.

        If a digit of an address is missing, `parse` accepts the text as a different address. Raises
        `address_invalid`.
        """
        try:
            address = cls.parse(text)
        except ValidationError as error:
            error.hint = "Use 0x and 64 hexadecimal digits."
            raise
        digits = len(text) - 2
        if digits != 2 * ADDRESS_LENGTH:
            raise ValidationError(
                "address_invalid",
                f"{text!r} has {digits} digits, expected {2 * ADDRESS_LENGTH}",
                hint="Compare the address with the original. Do not omit leading zeros.",
            )
        return address

    def __str__(self) -> str:
        return f"0x{self.hex()}"

    def __repr__(self) -> str:
        return f"Address({self.short()})"

    def short(self) -> str:
        """Return the text without leading zeros, such as `0x2`."""
        return f"0x{int.from_bytes(self, 'big'):x}"


def _not_an_address(text: str) -> ValidationError:
    return ValidationError(
        "address_invalid",
        f"{text[:80]!r} is not a valid address",
        hint="Use 0x and 1 to 64 hexadecimal digits.",
    )


ADDRESS: Codec[Address] = fixed(ADDRESS_LENGTH, Address)

ZERO = Address.of(0)
MOVE_STDLIB = Address.of(0x1)
SUI_FRAMEWORK = Address.of(0x2)
SUI_SYSTEM = Address.of(0x3)
BRIDGE_PACKAGE = Address.of(0xB)
SYSTEM_STATE = Address.of(0x5)
CLOCK = Address.of(0x6)
AUTHENTICATOR_STATE = Address.of(0x7)
RANDOM = Address.of(0x8)
BRIDGE = Address.of(0x9)
COIN_REGISTRY = Address.of(0xC)
DISPLAY_REGISTRY = Address.of(0xD)
ACCUMULATOR_ROOT = Address.of(0xACC)
DENY_LIST = Address.of(0x403)
