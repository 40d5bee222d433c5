"""The sources of the passphrase that decrypts a key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nexus_tools.errors import UsageError
from nexus_tools.settings.environment import PASSPHRASE, PASSPHRASE_FILE
from nexus_tools.sui.support.private_file import is_exposed
from nexus_tools.sui.support.text_file import read_text


@dataclass
class Passphrase:
    """The passphrase as text, the file that contains it, or a function that prompts for it.

    `prompt` is called with the key's alias.
    """

    text: str | None = field(default=None, repr=False)
    file: Path | None = None
    prompt: Callable[[str], str] | None = None

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> "Passphrase":
        """Return the passphrase that environment variables set.

        The names in `variables` do not include the prefix `NEXUS_TOOLS_`.
        """
        file = variables.get("passphrase_file")
        return cls(variables.get("passphrase"), Path(file) if file else None)

    @property
    def is_set(self) -> bool:
        """Whether the passphrase is available without a prompt."""
        return self.text is not None or self.file is not None

    def __call__(self, alias: str | None) -> str:
        """Return the passphrase of a key, which may be new and have no alias.

        Raises `passphrase_missing` or `passphrase_file_invalid`.
        """
        if self.text is not None:
            return self.text
        if self.file is not None:
            return _first_line(self.file)
        if self.prompt is not None:
            return self.prompt(alias or "")
        key = "the new encrypted key" if alias is None else f"the encrypted key {alias}"
        raise UsageError(
            "passphrase_missing",
            f"missing passphrase for {key}",
            hint=f"Set {PASSPHRASE_FILE} to a file with the passphrase, or set {PASSPHRASE}.",
        )


def _first_line(path: Path) -> str:
    if is_exposed(path):
        raise _unusable(path, "other users can read the file")
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise _unusable(path, "the file does not exist") from None
    except OSError as error:
        raise _unusable(path, error.strerror or "the file cannot be read") from None
    except UnicodeDecodeError:
        raise _unusable(path, "the file is not UTF-8 text") from None
    return text.partition("\n")[0].removesuffix("\r")


def _unusable(path: Path, reason: str) -> UsageError:
    return UsageError(
        "passphrase_file_invalid",
        f"cannot use the passphrase file {path}: {reason}",
        hint=f"Set {PASSPHRASE_FILE} to a file of mode 0600 whose first line is the passphrase.",
    )
