"""Functions around others, which show what a caller of the genuine VM does not see.

The wrapper of a function takes by value what the function takes by reference. It returns, in this
order, what the function returns (of a reference the BCS bytes of what it points to), the values
behind its parameters that are references, and how many events there were and all their bytes.
"""

from dataclasses import dataclass, field, replace

from differential.exposure import EVENT_BYTES, EVENT_COUNT, pointed
from nexus_tools.localnet.bytecode.module import (
    Ability,
    Code,
    CompiledModule,
    FunctionDefinition,
    FunctionHandle,
    Instantiation,
    Instruction,
    ModuleHandle,
    ReferenceToken,
    Signature,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
    Visibility,
)
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, Address

_BYTES = VectorToken("u8")


def wrap(target: CompiledModule, address: Address) -> CompiledModule:
    """A module of the same name at `address` with a wrapper for each function of `target`.

    The wrapper of a function has its name and its place. All functions of `target` have to be
    public where the wrappers are used.
    """
    tables = _Tables(target, address)
    definitions = [
        tables.wrapper(target.function_handles[definition.handle])
        for definition in target.function_definitions
    ]
    return tables.module(definitions)


@dataclass(slots=True)
class _Tables:
    """The tables of the module that is made: those of the target, and what is added to them."""

    target: CompiledModule
    address: Address
    self_handle: int = 0
    addresses: list[bytes] = field(default_factory=list)
    identifiers: list[str] = field(default_factory=list)
    modules: list[ModuleHandle] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    functions: list[FunctionHandle] = field(default_factory=list)
    instantiations: list[Instantiation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.addresses = list(self.target.addresses)
        self.identifiers = list(self.target.identifiers)
        self.modules = list(self.target.module_handles)
        self.signatures = list(self.target.signatures)
        self.self_handle = self._module(self.address, self.target.name)

    def module(self, definitions: list[FunctionDefinition]) -> CompiledModule:
        return replace(
            self.target,
            self_handle=self.self_handle,
            addresses=tuple(self.addresses),
            identifiers=tuple(self.identifiers),
            module_handles=tuple(self.modules),
            signatures=tuple(self.signatures),
            function_handles=tuple(self.functions),
            function_instantiations=tuple(self.instantiations),
            function_definitions=tuple(definitions),
            constants=(),
            struct_definitions=(),
            struct_instantiations=(),
            field_handles=(),
            field_instantiations=(),
            friends=(),
            enum_definitions=(),
            enum_instantiations=(),
            variant_handles=(),
            variant_instantiations=(),
        )

    def wrapper(self, wrapped: FunctionHandle) -> FunctionDefinition:
        parameters = self.target.signatures[wrapped.parameters]
        returns = self.target.signatures[wrapped.returns]
        values = tuple([pointed(token) for token in parameters])
        shown = tuple([_shown(token) for token in returns])
        behind = tuple([pointed(one) for one in parameters if isinstance(one, ReferenceToken)])
        handle = FunctionHandle(
            self.self_handle,
            wrapped.name,
            _index(self.signatures, values),
            _index(self.signatures, (*shown, *behind, "u64", _BYTES)),
            wrapped.type_parameters,
        )
        code = Code(
            _index(self.signatures, shown),
            (
                *self._call(wrapped, parameters),
                *self._results(returns, len(parameters)),
                *_values_behind(parameters),
                Instruction(Opcode.CALL, self._event_function(EVENT_COUNT, ("u64",))),
                Instruction(Opcode.CALL, self._event_function(EVENT_BYTES, (_BYTES,))),
                Instruction(Opcode.RET),
            ),
            (),
        )
        index = _index(self.functions, handle)
        return FunctionDefinition(index, Visibility.PUBLIC, False, (), code)

    def _call(self, wrapped: FunctionHandle, parameters: Signature) -> list[Instruction]:
        code = [Instruction(_BORROWS[_kind(one)], place) for place, one in enumerate(parameters)]
        index = _index(self.functions, wrapped)
        arguments = tuple(
            [TypeParameterToken(place) for place in range(len(wrapped.type_parameters))]
        )
        return [*code, self._calling(index, arguments)]

    def _results(self, returns: Signature, first_local: int) -> list[Instruction]:
        """Put the results into locals, the last one first, and take them out in order."""
        code = []
        for place in reversed(range(len(returns))):
            token = returns[place]
            if isinstance(token, ReferenceToken):
                code += [Instruction(Opcode.FREEZE_REF)] if token.mutable else []
                code.append(self._calling(self._to_bytes(), (token.target,)))
            code.append(Instruction(Opcode.ST_LOC, first_local + place))
        places = range(first_local, first_local + len(returns))
        return code + [Instruction(Opcode.MOVE_LOC, place) for place in places]

    def _calling(self, index: int, arguments: Signature) -> Instruction:
        if not arguments:
            return Instruction(Opcode.CALL, index)
        signature = _index(self.signatures, arguments)
        instantiation = _index(self.instantiations, Instantiation(index, signature))
        return Instruction(Opcode.CALL_GENERIC, instantiation)

    def _to_bytes(self) -> int:
        reference: Signature = (ReferenceToken(TypeParameterToken(0), mutable=False),)
        module = self._module(MOVE_STDLIB, "bcs")
        return self._function(module, "to_bytes", reference, (_BYTES,), (Ability.NONE,))

    def _event_function(self, name: str, returns: Signature) -> int:
        return self._function(self._module(SUI_FRAMEWORK, "event"), name, (), returns, ())

    def _function(
        self,
        module: int,
        name: str,
        parameters: Signature,
        returns: Signature,
        type_parameters: tuple[Ability, ...],
    ) -> int:
        handle = FunctionHandle(
            module,
            _index(self.identifiers, name),
            _index(self.signatures, parameters),
            _index(self.signatures, returns),
            type_parameters,
        )
        return _index(self.functions, handle)

    def _module(self, address: bytes, name: str) -> int:
        handle = ModuleHandle(
            _index(self.addresses, bytes(address)), _index(self.identifiers, name)
        )
        return _index(self.modules, handle)


def _values_behind(parameters: Signature) -> list[Instruction]:
    return [
        Instruction(Opcode.MOVE_LOC, place)
        for place, token in enumerate(parameters)
        if isinstance(token, ReferenceToken)
    ]


_BORROWS = {
    None: Opcode.MOVE_LOC,
    False: Opcode.IMM_BORROW_LOC,
    True: Opcode.MUT_BORROW_LOC,
}


def _kind(token: SignatureToken) -> bool | None:
    return token.mutable if isinstance(token, ReferenceToken) else None


def _shown(token: SignatureToken) -> SignatureToken:
    return _BYTES if isinstance(token, ReferenceToken) else token


def _index(table: list, row: object) -> int:
    """The place of a row, which is added if it is not there."""
    if row not in table:
        table.append(row)
    return table.index(row)
