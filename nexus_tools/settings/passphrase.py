"""The passphrase that opens an encrypted key: where it comes from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nexus_tools.errors import UsageError
from nexus_tools.settings.environment import PASSPHRASE, PASSPHRASE_FILE
from nexus_tools.sui.support.private_file import is_exposed
from nexus_tools.sui.support.text_file import read_text


@dataclass
class Passphrase:
    """A passphrase as it stands, or the file that has it, or `prompt`, which asks somebody for it.

    `prompt` gets the alias of a key.
    """

    text: str | None = field(default=None, repr=False)
    file: Path | None = None
    prompt: Callable[[str], str] | None = None

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> "Passphrase":
        """That of the environment, whose variables are named without what ours begin with."""
        file = variables.get("passphrase_file")
        return cls(variables.get("passphrase"), Path(file) if file else None)

    @property
    def is_set(self) -> bool:
        """Whether nobody has to be asked."""
        return self.text is not None or self.file is not None

    def __call__(self, alias: str) -> str:
        """The passphrase of a key. Raises `passphrase_missing` or `passphrase_file_invalid`."""
        if self.text is not None:
            return self.text
        if self.file is not None:
            return _first_line(self.file)
        if self.prompt is not None:
            return self.prompt(alias)
        raise UsageError(
            "passphrase_missing",
            f"there is no passphrase for the encrypted key {alias}",
            hint=f"set {PASSPHRASE_FILE} to a file that has it, or {PASSPHRASE}",
        )


def _first_line(path: Path) -> str:
    if is_exposed(path):
        raise _unusable(path, "others than you can read it")
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise _unusable(path, "there is no such file") from None
    except OSError as error:
        raise _unusable(path, error.strerror or "it cannot be read") from None
    except UnicodeDecodeError:
        raise _unusable(path, "it is no text") from None
    return text.partition("\n")[0].removesuffix("\r")


def _unusable(path: Path, reason: str) -> UsageError:
    return UsageError(
        "passphrase_file_invalid",
        f"the passphrase in {path} cannot be used: {reason}",
        hint=f"{PASSPHRASE_FILE} names a file of mode 0600 whose first line is the passphrase",
    )
