"""A Move package with every feature that bindings support, generated, imported and published."""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bindings.generator import PackageSource, generate, write_bindings
from nexus_tools.sui.bindings.runtime import Address, Package
from nexus_tools.sui.bytecode import deserialize, serialize
from nexus_tools.sui.localnet.compiler import build_package
from nexus_tools.sui.localnet.framework import load_framework

PACKAGES = Path(__file__).parent / "packages"
FRAMEWORK = tuple(map(Address.of, (1, 2)))


def framework(address):
    return load_framework()[bytes(address)].modules


def source_of(name, compiled):
    origin = f"the Move package `{name}`"
    return PackageSource(origin, compiled.built.modules, compiled.sources)


@pytest.fixture(scope="session")
def compiled(move_builder):
    """Compile the package `shapes` with its dependency `tokens`."""
    return build_package(move_builder, PACKAGES / "shapes")


@pytest.fixture(scope="session")
def shapes_source(compiled):
    return source_of("shapes", compiled)


@pytest.fixture(scope="session")
def tokens_source(compiled):
    return source_of("tokens", compiled.dependencies["tokens"])


@pytest.fixture(scope="session")
def generated(shapes_source, tokens_source, tmp_path_factory):
    """Return the folder of the bindings of `shapes`, with those of `tokens` inside."""
    folder = tmp_path_factory.mktemp("generated") / "shapes"
    bindings = generate(shapes_source, framework, {"tokens": tokens_source})
    write_bindings(folder, bindings.files)
    return folder


@pytest.fixture(scope="session")
def names(move_builder, tmp_path_factory):
    """Return the folder of the bindings of `names`, which declares the names that bindings use."""
    folder = tmp_path_factory.mktemp("generated") / "names"
    compiled = build_package(move_builder, PACKAGES / "names")
    write_bindings(folder, generate(source_of("names", compiled), framework).files)
    return folder


@pytest.fixture(scope="session")
def shapes(generated):
    """Return a function that imports a module of the bindings by name."""
    sys.path.insert(0, str(generated.parent))
    yield lambda name: importlib.import_module(f"shapes.{name}" if name else "shapes")
    sys.path.remove(str(generated.parent))


@pytest.fixture
def boxes(shapes) -> ModuleType:
    return shapes("boxes")


@pytest.fixture
def token(shapes) -> ModuleType:
    return shapes("tokens.token")


@pytest.fixture
def importing(shapes) -> ModuleType:
    return shapes("import_")


@dataclass(frozen=True)
class Published:
    """The IDs of the two packages, and the objects that publishing `shapes` created."""

    shapes: Package
    tokens: Package
    created: object


def linked(modules, addresses):
    """Return modules with other addresses: those of packages that were published meanwhile."""
    found = []
    for module in map(deserialize, modules):
        renamed = tuple(addresses.get(address, address) for address in module.addresses)
        found.append(serialize(replace(module, addresses=renamed)))
    return found


@pytest.fixture(scope="session")
def all_at_zero(compiled):
    """Return `shapes` in the form of a compiler that gives unpublished packages the address 0x0."""
    tokens = deserialize(compiled.dependencies["tokens"].built.modules[0]).address
    modules = linked(compiled.built.modules, {tokens: bytes(32)})
    return PackageSource("shapes", tuple(modules), {})


@pytest.fixture
def published(publish, compiled):
    tokens = compiled.dependencies["tokens"].built
    unpublished = deserialize(tokens.modules[0]).address
    tokens_id = publish(linked(tokens.modules, {unpublished: bytes(32)})).id
    modules = linked(compiled.built.modules, {unpublished: bytes(tokens_id)})
    published = publish(modules, [*FRAMEWORK, tokens_id])
    return Published(Package.at(published.id), Package.at(tokens_id), published.created)


@pytest.fixture
def decoder(shapes, published):
    return shapes("").TYPES.at(published.shapes, tokens=published.tokens)


@pytest.fixture
def execute(localnet, wallet):
    """Return a function that executes the transaction of another function."""
    from nexus_tools.sui.transaction_builder import TransactionBuilder

    def execute(build):
        builder = TransactionBuilder()
        build(builder)
        return localnet.run(wallet.client.execute(builder))

    return execute


@pytest.fixture
def read(localnet, wallet, decoder):
    """Return a function that reads an object as a value."""
    return lambda object_id: decoder.object(localnet.run(wallet.client.object(object_id)))
