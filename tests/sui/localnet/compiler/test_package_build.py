"""Packages in folders, compiled for publication with their published dependencies."""

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.bcs import u64
from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.compiler import build_package, build_to_publish, read_package
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK

LIBRARY = "module library::parts;\npublic fun eight(): u64 { 8 }\n"
APP = "module app::main;\npublic fun nine(): u64 { library::parts::eight() + 1 }\n"
ORIGINAL, NEWEST = (number.to_bytes(32, "big") for number in (0xCAFE, 0xBEEF))


@pytest.fixture
def package(tmp_path):
    """Return a function that writes a package with the module `main` and returns its folder."""

    def write(name, source, *, address="0x0", head="", tables=""):
        folder = tmp_path / name
        (folder / "sources").mkdir(parents=True, exist_ok=True)
        (folder / "sources" / "main.move").write_text(source)
        package = f'[package]\nname = "{name}"\nedition = "2024"\n{head}\n'
        addresses = f'\n[addresses]\n{name} = "{address}"\n'
        (folder / "Move.toml").write_text(f"{package}\n{tables}\n{addresses}")
        return folder

    return write


@pytest.fixture
def app(package):
    return package("app", APP, tables='[dependencies]\nlibrary = { local = "../library" }')


def test_package_is_linked_to_published_dependency(app, package, publish, localnet, wallet):
    library = publish(package("library", LIBRARY))
    package("library", LIBRARY, address=str(library.id))
    published = publish(app)
    builder = TransactionBuilder()
    builder.move_call(published.id, "main", "nine")
    ((value,),) = localnet.run(wallet.client.inspect(builder)).results
    assert u64.decode(value) == 9


def test_unpublished_dependency_is_rejected(app, package, builder, publish):
    library = package("library", LIBRARY)
    for make in (lambda: build_to_publish(builder, app), lambda: publish(app)):
        with pytest.raises(ValidationError, match="depends on library") as caught:
            make()
        assert caught.value.code == "dependency_unpublished"
        assert f"[addresses] of {library / 'Move.toml'}" in caught.value.hint


@pytest.mark.parametrize("address", ["0xCAFE", "0x0"])
def test_calls_use_first_version_and_transaction_uses_newest(app, package, builder, address):
    package("library", LIBRARY, address=address, head='published-at = "0xBEEF"')
    built = build_to_publish(builder, app)
    (module,) = map(deserialize, built.modules)
    assert set(module.addresses) == {bytes(32), ORIGINAL if address == "0xCAFE" else NEWEST}
    assert built.dependencies == (MOVE_STDLIB, SUI_FRAMEWORK, NEWEST)


@pytest.mark.parametrize(
    "tables",
    [
        '[dev-dependencies]\nlibrary = { local = "../library" }',
        '[dependencies]\nlibrary = { local = "../library", modes = ["test"] }',
    ],
)
def test_only_dependency_is_not_linked(package, builder, tables):
    source = "module app::main;\npublic fun nine(): u64 { 9 }\n"
    tests = "#[test] fun eight() { assert!(library::parts::eight() == 8) }\n"
    app = package("app", source + tests, tables=tables)
    package("library", LIBRARY)
    assert build_to_publish(builder, app).dependencies == (MOVE_STDLIB, SUI_FRAMEWORK)
    assert build_package(builder, app).dependencies == {}


def test_dev_address_is_not_used_for_publication(package, builder):
    source = "module app::main;\npublic fun admin(): address { @admin }\n"
    folder = package("app", source, tables='[dev-addresses]\nadmin = "0xAD"\n')
    manifest = folder / "Move.toml"
    manifest.write_text(manifest.read_text() + 'admin = "_"\n')
    with pytest.raises(ValidationError, match="does not assign the address admin") as caught:
        build_to_publish(builder, folder)
    assert caught.value.code == "address_unassigned"


def test_framework_macros_need_no_framework_sources(package, publish, localnet, wallet):
    published = publish(
        package(
            "app",
            "module app::main;\npublic fun sum(): u64 {\n"
            "    let squares = vector::tabulate!(4, |n| n * n);\n"
            "    let mut sum = option::some(squares).map!(|all| all.length()).destroy_or!(0);\n"
            "    squares.do!(|n| sum = sum + n);\n    sum\n}\n",
        )
    )
    builder = TransactionBuilder()
    builder.move_call(published.id, "main", "sum")
    ((value,),) = localnet.run(wallet.client.inspect(builder)).results
    assert u64.decode(value) == 4 + (0 + 1 + 4 + 9)


def test_unpublished_dependency_can_be_bundled(app, package, publish, localnet, wallet):
    package("library", LIBRARY)
    published = publish(app, bundle="unpublished")
    builder = TransactionBuilder()
    builder.move_call(published.id, "main", "nine")
    ((value,),) = localnet.run(wallet.client.inspect(builder)).results
    assert u64.decode(value) == 9


def test_published_dependency_can_be_bundled(app, package, publish, builder):
    package("library", LIBRARY, address="0xCAFE")
    assert build_to_publish(builder, app, bundle="unpublished").dependencies[2:] == (ORIGINAL,)
    package("library", LIBRARY, address="0xCAFE", head='published-at = "0xBEEF"')
    everything = build_to_publish(builder, app, bundle="all")
    assert everything.dependencies == (MOVE_STDLIB, SUI_FRAMEWORK)
    assert publish(app, bundle="all").id


def test_bundling_modules_with_same_name_is_rejected(package, builder):
    package("library", "module library::main;\npublic fun eight(): u64 { 8 }\n")
    folder = package(
        "app",
        "module app::main;\npublic fun nine(): u64 { library::main::eight() + 1 }\n",
        tables='[dependencies]\nlibrary = { local = "../library" }',
    )
    with pytest.raises(ValidationError) as caught:
        build_to_publish(builder, folder, bundle="all")
    assert caught.value.code == "module_names_equal"
    assert f"main (in library and {folder})" in caught.value.message
    assert "Publish the dependency first" in caught.value.hint


def test_only_module_may_share_a_module_name(package, builder):
    package("library", "#[test_only]\nmodule library::main;\npublic fun eight(): u64 { 8 }\n")
    folder = package(
        "app", "module app::main;", tables='[dependencies]\nlibrary = { local = "../library" }'
    )
    assert len(build_to_publish(builder, folder, bundle="all").modules) == 1


def test_same_module_names_work_after_publishing_dependency_first(package, publish):
    library = publish(package("library", "module library::main;\npublic fun eight(): u64 { 8 }\n"))
    package("library", "module library::main;\npublic fun eight(): u64 { 8 }\n", address=library.id)
    folder = package(
        "app",
        "module app::main;\npublic fun nine(): u64 { library::main::eight() + 1 }\n",
        tables='[dependencies]\nlibrary = { local = "../library" }',
    )
    assert publish(folder, bundle="unpublished").id != library.id


def test_published_package_is_compiled_for_new_publication(package, builder):
    folder = package("app_of_mine", "module app_of_mine::main;", address="0xCAFE")
    manifest = folder / "Move.toml"
    manifest.write_text(manifest.read_text().replace('name = "app_of_mine"', 'name = "AppOfMine"'))
    (module,) = map(deserialize, build_to_publish(builder, folder).modules)
    assert module.address == bytes(32)


def test_checkout_replaces_dependency_source(app, package, builder, tmp_path):
    library = package("somewhere", LIBRARY)
    manifest = app / "Move.toml"
    far = manifest.read_text().replace('local = "../library"', 'git = "https://example.com/l.git"')
    manifest.write_text(far)
    built = build_to_publish(builder, app, checkouts={"library": library}, bundle="all")
    assert len(built.modules) == 2
    with pytest.raises(
        ValidationError, match="does not depend on other; its dependencies are: library"
    ) as caught:
        read_package(app, checkouts={"library": library, "other": library})
    assert caught.value.code == "dependency_unknown"


def test_package_and_dependency_may_name_framework_differently(package, builder):
    local = '[dependencies]\nSui = { local = "../../sui/packages/sui-framework" }'
    package("library", LIBRARY, tables=local)
    git = (
        '[dependencies]\nSui = { git = "https://github.com/MystenLabs/sui.git",'
        ' subdir = "crates/sui-framework/packages/sui-framework", rev = "main" }\n'
        'library = { local = "../library" }'
    )
    folder = package("app", APP, tables=git)
    assert len(build_to_publish(builder, folder, bundle="all").modules) == 2


def test_package_without_implicit_dependencies_has_only_named_ones(package, builder):
    source = "module app::main;\npublic fun larger(): u64 { sui::math::max(1, 2) }\n"
    head = "implicit-dependencies = false"
    with pytest.raises(ValidationError, match="sui::math"):
        build_to_publish(builder, package("app", source, head=head))
    named = (
        '[dependencies]\nsui = { git = "https://github.com/MystenLabs/sui.git",'
        ' subdir = "crates/sui-framework/packages/sui-framework", rev = "main" }'
    )
    assert build_to_publish(builder, package("app", source, head=head, tables=named)).modules
