"""Names of packages and of their addresses, some of which have the same meaning."""

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.localnet.move_test import Verdict

USER = """module user_{number}::main;
use math::numbers as math;
public fun own(): (u64, address) {{ math::own() }}
"""
LIBRARY = "module library::main;\npublic fun own(): address { @library }\n"
APP = """module app::main;
public struct Own has key { id: UID }
public fun new(ctx: &mut TxContext): Own { Own { id: object::new(ctx) } }
#[test] fun uses() { assert!(library::main::own() != @0x0) }
"""


def manifest(name, dependencies="", addresses=""):
    """Return a manifest of the older format, in which the name of a package is a label."""
    head = f'[package]\nname = "{name}"\nedition = "2024"\n'
    return f"{head}\n[dependencies]\n{dependencies}\n\n[addresses]\n{addresses}\n"


@pytest.mark.long
def test_run_supports_two_dependencies_with_packages_of_same_name(world, run_package):
    # Sui's compiler accepts it, because the names of addresses are local to a package.
    packages = {}
    for number in (1, 2):
        packages[f"math_{number}"] = (
            manifest("math", addresses='math = "0x0"'),
            f"module math::numbers;\npublic fun own(): (u64, address) {{ ({number}, @math) }}\n",
        )
        packages[f"user_{number}"] = (
            manifest(
                f"user_{number}",
                f'math = {{ local = "../math_{number}" }}',
                f'user_{number} = "0x0"',
            ),
            USER.format(number=number),
        )
    test = (
        "module app::main;\n"
        "#[test] fun names_differ() {\n"
        "    let (one, first) = user_1::main::own();\n"
        "    let (two, second) = user_2::main::own();\n"
        "    assert!(one == 1 && two == 2 && first != second);\n}\n"
    )
    uses = "\n".join(f'user_{number} = {{ local = "../user_{number}" }}' for number in (1, 2))
    folder = world(app=(manifest("app", uses, 'app = "0x0"'), test), **packages)
    with pytest.raises(ValidationError) as caught:
        run_package(folder / "app")
    assert caught.value.code == "address_name_ambiguous"
    assert "user_1" in caught.value.message
    for number in (1, 2):
        source = folder / f"user_{number}" / "sources" / "main.move"
        source.write_text(
            source.read_text().replace(" as math", "").replace("math::own", "numbers::own")
        )
    assert [result.verdict for result in run_package(folder / "app").values()] == [Verdict.PASS]


@pytest.mark.parametrize("name", ["sui", "library", "app"])
def test_package_name_is_only_a_label_when_manifest_has_addresses(world, run_package, name):
    folder = world(
        app=(
            manifest(name, 'other = { local = "../library" }', 'app = "0x0"'),
            APP,
        ),
        library=(manifest("label", addresses='library = "0x0"'), LIBRARY),
    )
    assert [result.verdict for result in run_package(folder / "app").values()] == [Verdict.PASS]
