"""Errors for a refused package name the functions that the network lacks."""

import pytest
from msgspec.structs import replace

from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.bytecode import deserialize, serialize
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK

MANIFEST = '[package]\nname = "newer"\nedition = "2024"\n\n[addresses]\nnewer = "0x0"\n'
SOURCE = """module newer::sums;

public fun less(one: u64, other: u64): u64 { one.diff(other) }
"""


@pytest.fixture(scope="session")
def module(move_builder):
    built = move_builder.build({"Move.toml": MANIFEST, "sources/sums.move": SOURCE})
    return built.modules[0]


def renamed(data, old, new):
    """Return a module with an identifier replaced by another one."""
    module = deserialize(data)
    names = tuple(new if name == old else name for name in module.identifiers)
    return serialize(replace(module, identifiers=names))


@pytest.fixture
def publishing(alice):
    async def publish(*modules, **options):
        builder = TransactionBuilder()
        cap = builder.publish(modules, [MOVE_STDLIB, SUI_FRAMEWORK])
        builder.transfer_objects([cap], alice.address)
        return await alice.execute(builder, **options)

    return publish


@pytest.mark.parametrize("options", [{}, {"budget": 100_000_000}], ids=["simulated", "executed"])
async def test_function_missing_in_the_framework_is_named_with_its_version(
    alice, publishing, module, options
):
    newer = renamed(module, "diff", "saturating_sub")
    with pytest.raises(RefusedOnChainError) as caught:
        await publishing(newer, **options)
    version = (await alice.object(MOVE_STDLIB)).data.version
    missing = f"0x1::u64::saturating_sub is not in version {version} of the package"
    assert caught.value.code == "vm_verification_or_deserialization_error"
    assert caught.value.message.endswith(f"vm verification or deserialization error: {missing}")
    assert caught.value.details["missing"] == [missing]
    assert ("digest" in caught.value.details) is bool(options)


async def test_function_published_with_other_types_is_named(alice, publishing, module):
    # `sqrt` has the type parameters of `diff`, but takes one number.
    with pytest.raises(RefusedOnChainError) as caught:
        await publishing(renamed(module, "diff", "sqrt"))
    version = (await alice.object(MOVE_STDLIB)).data.version
    differing = f"0x1::u64::sqrt is declared differently in version {version} of the package"
    assert caught.value.message.endswith(f": {differing}")
    assert (caught.value.details["missing"], caught.value.details["differing"]) == ([], [differing])


async def test_package_refused_for_another_reason_is_left_to_the_trace(publishing, module):
    with pytest.raises(RefusedOnChainError) as caught:
        await publishing(renamed(module, "less", "less than"))
    assert "nexus-tools localnet trace" in caught.value.hint
    assert "missing" not in caught.value.details


async def test_package_with_existing_functions_is_published(publishing, module):
    assert (await publishing(module)).published()
