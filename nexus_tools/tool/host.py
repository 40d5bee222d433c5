"""The check whether the host of a URL is an IP address or a resolvable name."""

import re
import unicodedata
from ipaddress import ip_address

_MAX_NAME = 253
_LABEL = re.compile(r"[a-z0-9_-]{1,63}", re.ASCII | re.IGNORECASE)
_PUNYCODE = "xn--"


def is_host(host: str) -> bool:
    """Return whether `host`, without brackets, can be passed to a resolver.

    Names follow RFC 1035, section 2.3.4, and may have underscores. A label in Punycode (RFC 3492)
    must decode to text with non-ASCII characters. `xn--a` is invalid, because it decodes to a
    control character.
    """
    try:
        ip_address(host)
    except ValueError:
        name = host.removesuffix(".")
        return len(name) <= _MAX_NAME and all(map(_is_label, name.split(".")))
    return True


def _is_label(label: str) -> bool:
    if not _LABEL.fullmatch(label):
        return False
    lower = label.lower()
    return not lower.startswith(_PUNYCODE) or _is_punycode(lower.removeprefix(_PUNYCODE))


def _is_punycode(text: str) -> bool:
    try:
        decoded = text.encode("ascii").decode("punycode")
    except (ValueError, OverflowError):
        return False
    # Some scripts need joiners, which have the Unicode category Cf. Characters of the other C
    # categories are rejected.
    kinds = {unicodedata.category(character) for character in decoded}
    return not decoded.isascii() and kinds.isdisjoint(("Cc", "Cn", "Co", "Cs"))
