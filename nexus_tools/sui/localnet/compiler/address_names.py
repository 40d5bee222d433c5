"""The renaming of address names that several packages in a dependency graph use.

Sui's compiler resolves address names per package, but its WASM build merges the address names of
all packages. Therefore, this module first gives distinct names to packages that share an address
name.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import count
from typing import TypeVar

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.move_source import Token, tokens_of

Key = TypeVar("Key")


def distinct_names(names: Mapping[Key, str], taken: Collection[str]) -> dict[Key, str]:
    """Return a new name, which is not in `taken`, for each package whose name is not unique."""
    shared_names = {name for name, owners in Counter(names.values()).items() if owners > 1}
    free_names = {
        name: (candidate for n in count(1) if (candidate := f"{name}_{n}") not in taken)
        for name in shared_names
    }
    return {key: next(free_names[name]) for key, name in names.items() if name in shared_names}


def rename_addresses(source: str, names: Mapping[str, str], location: str) -> str:
    """Return a Move source with its named addresses renamed from the keys to the values of `names`.

    Files that are not Move sources are returned unchanged. Error messages refer to the source as
    `location`.

    Raises:
        ValidationError: The source imports a member that has one of the names, so `name::` would be
            ambiguous (`address_name_ambiguous`).
    """
    if not names or not location.endswith(".move"):
        return source
    tokens = tokens_of(source)
    _check_imports(tokens, names, location)
    parts, position = [], 0
    for i, token in enumerate(tokens):
        if (name := _renamed(tokens, i, names)) is not None:
            parts += [source[position : token.start], name]
            position = token.end
    return "".join([*parts, source[position:]])


def _renamed(tokens: list[Token], i: int, names: Mapping[str, str]) -> str | None:
    """Return the new text of a token that is a renamed address, or None."""
    text = tokens[i].text
    if text.startswith("@"):
        return f"@{names[text[1:]]}" if text[1:] in names else None
    is_first = i == 0 or tokens[i - 1].text != "::"
    leads_on = i + 1 < len(tokens) and tokens[i + 1].text == "::"
    return names.get(text) if is_first and leads_on else None


def _check_imports(tokens: list[Token], names: Mapping[str, str], location: str) -> None:
    is_import = False
    for i, token in enumerate(tokens):
        if token.text in ("use", ";"):
            is_import = token.text == "use"
        elif is_import and token.text in names and not _leads_a_path(tokens, i):
            raise ValidationError(
                "address_name_ambiguous",
                f"{location} imports a member named {token.text!r}, but two packages in the graph"
                f" use {token.text!r} as an address name",
                hint=f"Import the member under another name: `as other_{token.text}`.",
            )


def _leads_a_path(tokens: list[Token], i: int) -> bool:
    is_renamed = i + 1 < len(tokens) and tokens[i + 1].text == "as"
    return is_renamed or _renamed(tokens, i, {tokens[i].text: ""}) is not None
