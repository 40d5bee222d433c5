"""The host of a URL: an IP address, or a name that can be looked up."""

import re
import unicodedata
from ipaddress import ip_address

_MAX_NAME = 253
_LABEL = re.compile(r"[a-z0-9_-]{1,63}", re.ASCII | re.IGNORECASE)
_PUNYCODE = "xn--"


def is_host(host: str) -> bool:
    """Whether a resolver can be asked for `host`, which has no brackets.

    Names are those of RFC 1035, section 2.3.4, with underscores; a label in Punycode (RFC 3492)
    has to stand for text that is not ASCII, which `xn--a`, a control character, does not.
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
    # Joiners, of category Cf, belong into some scripts; the rest of C is no text.
    kinds = {unicodedata.category(character) for character in decoded}
    return not decoded.isascii() and kinds.isdisjoint(("Cc", "Cn", "Co", "Cs"))
