"""Python functions for the Move functions that a transaction can call."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from nexus_tools.sui.bindings.generator.contents import FunctionContents, TypeParameter
from nexus_tools.sui.bindings.generator.expressions import Expressions, is_nested_option
from nexus_tools.sui.bindings.generator.layout import (
    Expression,
    Group,
    Text,
    call,
    docstring,
    lines_of,
)
from nexus_tools.sui.bindings.generator.move_types import (
    MoveType,
    NamedType,
    Parameter,
    Reference,
    Vector,
)
from nexus_tools.sui.bindings.generator.parameter_names import snake, unused
from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.types.address import BRIDGE_PACKAGE, SUI_FRAMEWORK, SUI_SYSTEM
from nexus_tools.sui.types.clock import CLOCK_TYPE
from nexus_tools.sui.types.type_tag import (
    ASCII_STRING,
    OBJECT_ID,
    OPTION,
    RECEIVING,
    STRING,
    TX_CONTEXT,
)

_CONTEXT = TX_CONTEXT.datatype
_UTF8 = STRING.datatype
_ASCII = ASCII_STRING.datatype
_ID = OBJECT_ID.datatype
# Singleton objects, each with the same ID on all networks. The values are constants in `inputs`.
_SYSTEM = {
    CLOCK_TYPE.datatype: "CLOCK",
    (SUI_FRAMEWORK, "random", "Random"): "RANDOM",
    (SUI_FRAMEWORK, "deny_list", "DenyList"): "DENY_LIST",
    (SUI_FRAMEWORK, "coin_registry", "CoinRegistry"): "COIN_REGISTRY",
    (SUI_FRAMEWORK, "display_registry", "DisplayRegistry"): "DISPLAY_REGISTRY",
    (SUI_FRAMEWORK, "accumulator", "AccumulatorRoot"): "ACCUMULATOR_ROOT",
    (SUI_FRAMEWORK, "authenticator_state", "AuthenticatorState"): "AUTHENTICATOR_STATE",
    (SUI_SYSTEM, "sui_system", "SuiSystemState"): "SYSTEM_STATE",
    (BRIDGE_PACKAGE, "bridge", "Bridge"): "BRIDGE",
}


class _Input(Struct, frozen=True):
    """An argument of the Move call, and the Python parameter with its value, if any, or ""."""

    parameter: str
    argument: Expression


class FunctionWriter:
    """A writer of the functions of one module."""

    def __init__(self, module: str, expressions: Expressions) -> None:
        self._module = module
        self._expressions = expressions
        self._scope = expressions.scope

    def lines(self, name: str, function: FunctionContents) -> list[str]:
        """Return the source of the Python function `name` for a Move function."""
        type_names = _type_names(function)
        inputs = list(self._inputs(function, type_names))
        value_parameters = [input_.parameter for input_ in inputs if input_.parameter]
        parameters = [
            f"builder: {self._scope.use('TransactionBuilder')}",
            f"package: {self._scope.use('Package')}",
            *(f"{name}: {self._scope.use('TypeTag')}" for name in type_names),
            *value_parameters,
        ]
        definition = Group(
            f"def {name}",
            "()",
            tuple(parameters),
            f" -> {self._returned(function)}",
            is_definition=True,
        )
        return [
            *lines_of(definition, after=":"),
            *docstring(_doc(self._module, function), 4),
            *self._body(function, [input_.argument for input_ in inputs], type_names),
        ]

    def _returned(self, function: FunctionContents) -> str:
        count = len(function.returns)
        if count == 0:
            return "None"
        if count == 1:
            return self._scope.use("Result")
        return f"tuple[{', '.join([self._scope.use('Argument')] * count)}]"

    def _body(
        self,
        function: FunctionContents,
        arguments: Sequence[Expression],
        type_names: Sequence[str],
    ) -> list[str]:
        items: list[Expression] = ["package.id", Text(self._module), Text(function.name)]
        if arguments or type_names:
            items.append(Group("", "[]", tuple(arguments)))
        if type_names:
            items.append(Group("", "[]", tuple(type_names)))
        move_call = call("builder.move_call", *items)
        count = len(function.returns)
        if count < 2:
            return lines_of(move_call, 4, "return " if count else "")
        names = ", ".join(f"result[{index}]" for index in range(count))
        return [*lines_of(move_call, 4, "result = "), f"    return {names}"]

    # --- Inputs

    def _inputs(self, function: FunctionContents, type_names: Sequence[str]) -> Iterator[_Input]:
        for name, move_type in function.parameters:
            target = move_type.target if isinstance(move_type, Reference) else move_type
            if isinstance(target, NamedType) and target.id == _CONTEXT:
                continue
            yield self._input(name, move_type, target, function.type_parameters, type_names)

    def _input(
        self,
        name: str,
        move_type: MoveType,
        target: MoveType,
        parameters: Sequence[TypeParameter],
        type_names: Sequence[str],
    ) -> _Input:
        is_read = isinstance(move_type, Reference) and not move_type.mutable
        helper = "read" if is_read else "changed"
        if isinstance(target, NamedType) and target.id in _SYSTEM:
            inputs = self._scope.inputs()
            return _Input("", f"{inputs}.{helper}(builder, {inputs}.{_SYSTEM[target.id]})")
        if is_pure(target):
            return self._pure(name, target)
        if isinstance(target, NamedType) and target.id == RECEIVING:
            return self._taken(name, self._scope.use("ObjectReference"), "received")
        if _is_object(target, parameters):
            kind = self._scope.use("ObjectInput")
            return _Input(f"{name}: {kind}", self._helper(helper, name))
        if isinstance(target, Vector):
            return self._vector(name, target, parameters, type_names)
        return _Input(f"{name}: {self._scope.use('Argument')}", name)

    def _helper(self, helper: str, *items: Expression) -> Group:
        return call(f"{self._scope.inputs()}.{helper}", "builder", *items)

    def _taken(self, name: str, kind: str, helper: str, *items: Expression) -> _Input:
        """Return an input that accepts a value of type `kind` or an argument.

        If the type is a union with None, None is the last member of the annotation.
        """
        plain = kind.removesuffix(" | None")
        optional = " | None" if plain != kind else ""
        parameter = f"{name}: {plain} | {self._scope.use('Argument')}{optional}"
        return _Input(parameter, self._helper(helper, *items, name))

    def _pure(self, name: str, target: MoveType) -> _Input:
        kind = self._given(target)
        if target == Vector("u8"):
            return self._taken(name, kind, "data")
        if target == Vector(Vector("u8")):
            return self._taken(name, kind, "data_list")
        if isinstance(target, NamedType) and target.id in (_UTF8, _ASCII):
            return self._taken(name, kind, "text" if target.id == _UTF8 else "ascii_text")
        return self._taken(name, kind, "pure", self._expressions.codec(target, ()))

    def _given(self, target: MoveType) -> str:
        """Return the annotation of a value that a caller passes.

        For a Move vector, a caller may pass any Python sequence.
        """
        if isinstance(target, Vector) and target.element != "u8":
            return f"{self._scope.use('Sequence')}[{self._given(target.element)}]"
        if isinstance(target, NamedType) and target.id == OPTION and not is_nested_option(target):
            return f"{self._given(target.arguments[0])} | None"
        return self._expressions.annotation(target, ())

    def _vector(
        self,
        name: str,
        target: Vector,
        parameters: Sequence[TypeParameter],
        type_names: Sequence[str],
    ) -> _Input:
        are_objects = _is_object(target.element, parameters)
        element = self._scope.use("ObjectInput" if are_objects else "Argument")
        tag = self._expressions.tag(target.element, type_names) or "None"
        kind = f"{self._scope.use('Sequence')}[{element}]"
        vector_input = self._taken(name, kind, "")
        helper = "objects" if are_objects else "elements"
        return _Input(vector_input.parameter, self._helper(helper, name, tag))


def is_pure(move_type: MoveType) -> bool:
    """Return whether values of a type can be pure inputs of a transaction."""
    if isinstance(move_type, Vector):
        return is_pure(move_type.element)
    if isinstance(move_type, NamedType):
        if move_type.id == OPTION:
            return is_pure(move_type.arguments[0])
        return move_type.id in (_UTF8, _ASCII, _ID)
    return isinstance(move_type, str)


def _is_object(move_type: MoveType, parameters: Sequence[TypeParameter]) -> bool:
    if isinstance(move_type, Parameter):
        return Ability.KEY in parameters[move_type.index].constraints
    return isinstance(move_type, NamedType) and Ability.KEY in move_type.abilities


def _type_names(function: FunctionContents) -> tuple[str, ...]:
    """Return the names of the type arguments, such as `t_type` or `coin_type`."""
    names: list[str] = []
    parameter_names = {name for name, _ in function.parameters}
    for type_parameter in function.type_parameters:
        name = snake(type_parameter.name)
        type_name = name if name.endswith("type") else f"{name}_type"
        names.append(unused(type_name, {*parameter_names, *names}))
    return tuple(names)


def _doc(module: str, function: FunctionContents) -> str:
    parts = [function.doc or f"`{module}::{function.signature}`."]
    if function.returns and function.doc:
        parts.append(f"Returns `{function.returned_text}`.")
    if function.returns_reference:
        parts.append("It returns a reference, so only a simulation can call it.")
    return "\n\n".join(parts)
