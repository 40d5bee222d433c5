"""The nesting depth of values, by type.

A value is at most 128 levels deep. The depth of a datatype is a formula of the depths of its type
arguments. The formula is computed once per definition, and the computation detects a datatype that
contains itself. For `struct Pair<A, B> { a: A, b: vector<B> }`, the depth is the maximum of A + 1
and B + 2. A `Pair<u8, u8>` has the depth 3, and a `Pair<u8, Pair<u8, u8>>` has the depth 5.

Source: `DepthFormula` in `move-vm-types/src/loaded_data/runtime_types.rs`.
"""

from collections.abc import Callable

from msgspec import Struct, field

from nexus_tools.sui.localnet.vm.definitions import Datatype, ReferenceType, Type, TypeParameter
from nexus_tools.sui.localnet.vm.errors import ErrorKind, InvalidCode, PrimitiveError
from nexus_tools.sui.localnet.vm.metering import VALUE_DEPTH_MAX
from nexus_tools.sui.types.type_tag import StructTag, TypeTag, VectorTag


class DepthFormula(Struct, frozen=True):
    """A formula: the maximum of `constant` and of each type parameter's depth plus its offset."""

    constant: int = 0
    offsets: dict[int, int] = field(default_factory=dict)

    def deeper(self, levels: int) -> "DepthFormula":
        """Return the formula of a value that contains this value at the given number of levels."""
        offsets = {index: offset + levels for index, offset in self.offsets.items()}
        return DepthFormula(self.constant + levels, offsets)


class ValueDepth:
    """A cache of type depths. `datatype` returns the definition of a struct or an enum."""

    def __init__(self, datatype: Callable[[StructTag], Datatype]) -> None:
        self._datatype = datatype
        self._formulas: dict[StructTag, DepthFormula | None] = {}
        self._nesting = 0

    def forget(self) -> None:
        """Discard all formulas."""
        self._formulas.clear()

    def of(self, type_: TypeTag) -> int:
        """Return the depth of a type's values, which is 1 for an integer.

        Raises:
            InvalidCode: A datatype contains itself.
            PrimitiveError: Datatypes are nested too deeply to compute the depth.
        """
        return self._formula(type_).constant

    def _formula(self, type_: Type) -> DepthFormula:
        if isinstance(type_, TypeParameter):
            return DepthFormula(0, {type_.index: 0})
        if isinstance(type_, VectorTag):
            return self._formula(type_.element).deeper(1)
        if isinstance(type_, ReferenceType):
            return self._formula(type_.target).deeper(1)
        if not isinstance(type_, StructTag):
            return DepthFormula(1)
        formula = self._datatype_formula(type_)
        arguments = [self._formula(param) for param in type_.type_params]
        parts = [arguments[i].deeper(offset) for i, offset in formula.offsets.items()]
        return _greatest([DepthFormula(formula.constant), *parts])

    def _datatype_formula(self, type_: StructTag) -> DepthFormula:
        definition = self._datatype(type_)
        if definition.tag in self._formulas:
            cached = self._formulas[definition.tag]
            if cached is None:
                raise InvalidCode(f"{definition.tag} contains itself")
            return cached
        if self._nesting == VALUE_DEPTH_MAX:
            raise PrimitiveError(ErrorKind.VM_MAX_VALUE_DEPTH_REACHED, None, None)
        # None marks a formula that is being computed. If the computation reaches the same formula
        # again, the datatype contains itself.
        self._formulas[definition.tag] = None
        self._nesting += 1
        try:
            fields = [self._formula(field_type) for field_type in definition.field_types()]
        except BaseException:
            del self._formulas[definition.tag]
            raise
        finally:
            self._nesting -= 1
        formula = self._formulas[definition.tag] = _greatest(fields).deeper(1)
        return formula


def _greatest(formulas: list[DepthFormula]) -> DepthFormula:
    offsets: dict[int, int] = {}
    for formula in formulas:
        for index, offset in formula.offsets.items():
            offsets[index] = max(offset, offsets.get(index, 0))
    return DepthFormula(max([formula.constant for formula in formulas], default=0), offsets)
