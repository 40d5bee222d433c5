"""The metadata of an index file, as datasette reads it."""

from pathlib import Path

from msgspec import Struct

from nexus_tools.index.schema import DESCRIPTIONS
from nexus_tools.sui.types.address import Address


class TableDescription(Struct, frozen=True):
    """The description of a table."""

    description: str


class DatabaseDescription(Struct, frozen=True):
    """The description of an index file and its tables."""

    description: str
    tables: dict[str, TableDescription]


class DatasetteMetadata(Struct, frozen=True):
    """The metadata of an index file for `datasette FILE --metadata`."""

    databases: dict[str, DatabaseDescription]


def describe_file(path: Path, package: Address) -> DatasetteMetadata:
    """Return the metadata of the index file of a package."""
    about = f"Tools, invocations and workflows of the package {package}."
    tables = {table: TableDescription(text) for table, text in DESCRIPTIONS.items()}
    return DatasetteMetadata({path.stem: DatabaseDescription(about, tables)})
