"""Wrappers of functions, which return the effects that Sui's own VM hides from callers.

For a reference parameter, the wrapper takes the target by value. The wrapper returns, in this
order, the results of the function, the targets of its reference parameters, and the number and the
bytes of all events. For a result that is a reference, the wrapper returns the BCS bytes of the
target.
"""

from collections.abc import Sequence

from assembler import Assembler
from differential.exposure import EVENT_BYTES, EVENT_COUNT, pointed
from nexus_tools.sui.bytecode import (
    Ability,
    Code,
    CompiledModule,
    FunctionDefinition,
    FunctionHandle,
    Instruction,
    Opcode,
    ReferenceToken,
    Signature,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
    Visibility,
)
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, Address

_BYTES = VectorToken("u8")
_KEPT = ("addresses", "identifiers", "module_handles", "datatype_handles", "signatures", "metadata")


def wrap(target: CompiledModule, address: Address) -> CompiledModule:
    """Return a module of the same name at `address` with a wrapper for each function of `target`.

    A wrapper has the name and the index of its function. Where wrappers are used, all functions of
    `target` must be public.
    """
    wrappers = _Wrappers(target, address)
    for definition in target.function_definitions:
        wrappers.add(target.function_handles[definition.handle])
    return wrappers.build()


class _Wrappers(Assembler):
    """The module of wrappers. It extends some tables of the target module."""

    def __init__(self, target: CompiledModule, address: Address) -> None:
        kept = {name: getattr(target, name) for name in _KEPT}
        super().__init__(address, target.name, **kept)
        self._signatures = target.signatures

    def add(self, wrapped: FunctionHandle) -> None:
        """Add the wrapper of a function."""
        parameters = self._signatures[wrapped.parameters]
        returns = self._signatures[wrapped.returns]
        shown = [_shown(token) for token in returns]
        behind = [pointed(one) for one in parameters if isinstance(one, ReferenceToken)]
        values, results = map(pointed, parameters), (*shown, *behind, "u64", _BYTES)
        handle = FunctionHandle(
            self.self_handle,
            wrapped.name,
            self.signature(values),
            self.signature(results),
            wrapped.type_parameters,
        )
        instructions = (
            *self._call(wrapped, parameters),
            *self._results(returns, len(parameters)),
            *_values_behind(parameters),
            Instruction(Opcode.CALL, self._event_function(EVENT_COUNT, "u64")),
            Instruction(Opcode.CALL, self._event_function(EVENT_BYTES, _BYTES)),
            Instruction(Opcode.RET),
        )
        code = Code(self.signature(shown), instructions, ())
        index = self.row("function_handles", handle)
        definition = FunctionDefinition(index, Visibility.PUBLIC, False, (), code)
        self.row("function_definitions", definition)

    def _call(self, wrapped: FunctionHandle, parameters: Signature) -> list[Instruction]:
        code = [Instruction(_BORROWS[_kind(one)], place) for place, one in enumerate(parameters)]
        index = self.row("function_handles", wrapped)
        arguments = [TypeParameterToken(place) for place in range(len(wrapped.type_parameters))]
        return [*code, self._calling(index, arguments)]

    def _results(self, returns: Signature, first_local: int) -> list[Instruction]:
        """Store the results in locals, starting with the last result, and load them in order."""
        code = []
        for place in reversed(range(len(returns))):
            token = returns[place]
            if isinstance(token, ReferenceToken):
                code += [Instruction(Opcode.FREEZE_REF)] if token.mutable else []
                code.append(self._calling(self._to_bytes(), [token.target]))
            code.append(Instruction(Opcode.ST_LOC, first_local + place))
        places = range(first_local, first_local + len(returns))
        return code + [Instruction(Opcode.MOVE_LOC, place) for place in places]

    def _calling(self, index: int, arguments: Sequence[SignatureToken]) -> Instruction:
        if not arguments:
            return Instruction(Opcode.CALL, index)
        instance = self.instantiation("function_instantiations", index, arguments)
        return Instruction(Opcode.CALL_GENERIC, instance)

    def _to_bytes(self) -> int:
        reference = ReferenceToken(TypeParameterToken(0), mutable=False)
        bcs = self.module(MOVE_STDLIB, "bcs")
        return self.function_handle(bcs, "to_bytes", [reference], [_BYTES], [Ability.NONE])

    def _event_function(self, name: str, returned: SignatureToken) -> int:
        return self.function_handle(self.module(SUI_FRAMEWORK, "event"), name, [], [returned])


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
