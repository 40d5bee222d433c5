"""Mutations of modules, which replace a few elements by other plausible elements.

Each mutation takes a module and three numbers, which select a position and a replacement.
"""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from fuzzing.code_mutation import CODE_MUTATIONS
from fuzzing.mutation import one_of
from fuzzing.rows import with_row
from nexus_tools.sui.bytecode import (
    Ability,
    CompiledModule,
    Constant,
    DatatypeToken,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
    Visibility,
)

Mutation = Callable[[CompiledModule, int, int, int], CompiledModule]
_NUMBERS = st.integers(0, 2**16)
_PRIMITIVES = ("bool", "u8", "u16", "u32", "u64", "u128", "u256", "address", "signer")


def mutants(modules: Sequence[CompiledModule], most: int = 3) -> st.SearchStrategy[CompiledModule]:
    """Return one of the modules with one to `most` mutations."""
    step = st.tuples(st.sampled_from(_MUTATIONS), _NUMBERS, _NUMBERS, _NUMBERS)
    return st.builds(_apply, one_of(modules), st.lists(step, min_size=1, max_size=most))


def _apply(
    module: CompiledModule, steps: Sequence[tuple[Mutation, int, int, int]]
) -> CompiledModule:
    for mutation, *numbers in steps:
        module = mutation(module, *numbers)
    return module


# --- Types


def _token(module: CompiledModule, seed: int) -> SignatureToken:
    """Return a type that the module could name."""
    kind, seed = seed % 7, seed // 7
    if kind == 6:
        return VectorToken(_token(module, seed))
    if kind == 1:
        return ReferenceToken(_token(module, seed // 2), mutable=bool(seed % 2))
    if kind == 2:
        return TypeParameterToken(seed % 2)
    if kind == 3 and module.datatype_handles:
        handle = seed % len(module.datatype_handles)
        count = len(module.datatype_handles[handle].type_parameters)
        return DatatypeToken(handle, tuple(_token(module, seed // 3 + i) for i in range(count)))
    if kind == 4 and module.signatures:
        signature = module.signatures[seed % len(module.signatures)]
        return signature[seed % len(signature)] if signature else "u64"
    return _PRIMITIVES[seed % len(_PRIMITIVES)]


def _signature(module: CompiledModule, place: int, token: int, seed: int) -> CompiledModule:
    rows = with_row(
        module.signatures,
        place,
        lambda row: with_row(row, token, lambda _: _token(module, seed)),
    )
    return replace(module, signatures=rows)


def _longer_signature(module: CompiledModule, place: int, _: int, seed: int) -> CompiledModule:
    rows = with_row(module.signatures, place, lambda row: (*row, _token(module, seed)))
    return replace(module, signatures=rows)


def _shorter_signature(module: CompiledModule, place: int, _: int, __: int) -> CompiledModule:
    return replace(module, signatures=with_row(module.signatures, place, lambda row: row[:-1]))


def _field(module: CompiledModule, place: int, field: int, seed: int) -> CompiledModule:
    def change(row: Any) -> Any:
        return replace(row, type=_token(module, seed))

    rows = with_row(
        module.struct_definitions,
        place,
        lambda row: replace(row, fields=with_row(row.fields or (), field, change)),
    )
    return replace(module, struct_definitions=rows)


def _variant_field(module: CompiledModule, place: int, field: int, seed: int) -> CompiledModule:
    def change(row: Any) -> Any:
        return replace(row, type=_token(module, seed))

    rows = with_row(
        module.enum_definitions,
        place,
        lambda row: replace(
            row,
            variants=with_row(
                row.variants,
                field,
                lambda row: replace(row, fields=with_row(row.fields, field // 7, change)),
            ),
        ),
    )
    return replace(module, enum_definitions=rows)


def _constant(module: CompiledModule, place: int, seed: int, size: int) -> CompiledModule:
    def change(row: Constant) -> Constant:
        if seed % 2:
            return Constant(_token(module, seed // 2), row.data)
        return Constant(row.type, row.data[: size % (len(row.data) + 1)] + bytes([seed % 256]))

    return replace(module, constants=with_row(module.constants, place, change))


# --- Declarations


def _abilities(module: CompiledModule, place: int, bit: int, _: int) -> CompiledModule:
    flipped = Ability(1 << bit % 4)
    rows = with_row(
        module.datatype_handles, place, lambda row: replace(row, abilities=row.abilities ^ flipped)
    )
    return replace(module, datatype_handles=rows)


def _datatype_parameter(module: CompiledModule, place: int, which: int, bit: int) -> CompiledModule:
    def change(row: Any) -> Any:
        if bit % 5 == 4:
            return replace(row, is_phantom=not row.is_phantom)
        return replace(row, constraints=row.constraints ^ Ability(1 << bit % 5))

    rows = with_row(
        module.datatype_handles,
        place,
        lambda row: replace(row, type_parameters=with_row(row.type_parameters, which, change)),
    )
    return replace(module, datatype_handles=rows)


def _function_constraints(
    module: CompiledModule, place: int, which: int, bit: int
) -> CompiledModule:
    rows = with_row(
        module.function_handles,
        place,
        lambda row: replace(
            row,
            type_parameters=with_row(
                row.type_parameters, which, lambda abilities: abilities ^ Ability(1 << bit % 4)
            ),
        ),
    )
    return replace(module, function_handles=rows)


def _function_types(module: CompiledModule, place: int, to: int, which: int) -> CompiledModule:
    name = ("parameters", "returns")[which % 2]
    rows = with_row(
        module.function_handles,
        place,
        lambda row: replace(row, **{name: to % len(module.signatures)}),
    )
    return replace(module, function_handles=rows)


def _visibility(module: CompiledModule, place: int, to: int, _: int) -> CompiledModule:
    rows = with_row(
        module.function_definitions,
        place,
        lambda row: replace(
            row, visibility=list(Visibility)[to % 3], is_entry=row.is_entry ^ bool(to // 3 % 2)
        ),
    )
    return replace(module, function_definitions=rows)


_INDICES = (
    "module_handles",
    "function_instantiations",
    "struct_instantiations",
    "field_handles",
    "field_instantiations",
    "enum_instantiations",
    "variant_handles",
    "variant_instantiations",
)


def _index(module: CompiledModule, table: int, place: int, seed: int) -> CompiledModule:
    """Replace an index in a row of a table that consists of indices."""
    name = _INDICES[table % len(_INDICES)]

    def change(row: Any) -> Any:
        field = row.__struct_fields__[seed % 2]
        return replace(row, **{field: max(0, getattr(row, field) + seed // 2 % 5 - 2)})

    rows: Any = with_row(getattr(module, name), place, change)
    return replace(module, **{name: rows})


_MUTATIONS: tuple[Mutation, ...] = (
    *CODE_MUTATIONS,
    _signature,
    _signature,
    _longer_signature,
    _shorter_signature,
    _field,
    _variant_field,
    _constant,
    _abilities,
    _datatype_parameter,
    _function_constraints,
    _function_types,
    _visibility,
    _index,
)
