"""Python modules for Move modules: their classes, errors and functions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from nexus_tools.sui.bindings.generator.contents import (
    EnumContents,
    FieldContents,
    ModuleContents,
    StructContents,
    TypeParameter,
    VariantContents,
)
from nexus_tools.sui.bindings.generator.expressions import (
    Expressions,
    held_parameters,
    variant_parameters,
)
from nexus_tools.sui.bindings.generator.functions import FunctionWriter
from nexus_tools.sui.bindings.generator.layout import (
    Expression,
    Group,
    Sum,
    Text,
    call,
    docstring,
    lines_of,
    literal,
)
from nexus_tools.sui.bindings.generator.move_types import used_parameters
from nexus_tools.sui.bindings.generator.parameter_names import unused
from nexus_tools.sui.bindings.generator.plan import Place, Plan
from nexus_tools.sui.bindings.generator.scope import Scope
from nexus_tools.sui.bindings.runtime import MoveError
from nexus_tools.sui.bindings.runtime.names import (
    ERRORS,
    class_name,
    error_name,
    field_name,
    free_name,
    function_name,
    variant_name,
)

_DUMMY = FieldContents("dummy_field", "bool", "")
_EVENTS = "AnyEvent"


def module_lines(
    plan: Plan, place: Place, module: ModuleContents, bases: Mapping[str, str]
) -> list[str]:
    """Return the lines of the Python module for a Move module, without the header comment."""
    return _Writer(plan, place, module, bases).lines()


class _Writer:
    def __init__(
        self, plan: Plan, place: Place, module: ModuleContents, bases: Mapping[str, str]
    ) -> None:
        self._module = module
        self._bases = bases
        defined = {class_name(datatype.name) for datatype in module.datatypes}
        self._error_names = _free_names(
            (error_name(error.name) for error in module.errors), defined
        )
        functions = (function_name(function.name) for function in module.functions)
        self._function_names = _free_names(functions, defined)
        self._variables = _type_variables(module, defined)
        defined |= set(self._variables.values())
        # The one-time witness of a module `errors` may have this name.
        self._errors = free_name(ERRORS, defined)
        self._events = free_name(_EVENTS, defined)
        defined |= {self._errors, self._events}
        self._scope = Scope(defined)
        self._expressions = Expressions(plan, place, module.name, self._scope)

    def lines(self) -> list[str]:
        writer = FunctionWriter(self._module.name, self._expressions)
        functions = zip(self._function_names, self._module.functions, strict=True)
        blocks = [
            *([list(self._error_lines())] if self._module.errors else []),
            *(self._struct(struct) for struct in self._module.structs),
            *(self._enum(enum) for enum in self._module.enums),
            *self._event_lines(),
            *(writer.lines(name, function) for name, function in functions),
        ]
        variables = list(self._variable_lines())
        doc = self._module.doc or f"The Move module `{self._module.name}`."
        head = [*docstring(doc, 0), "", *self._scope.import_lines()]
        if variables:
            head += ["", *variables]
        body = [line for block in blocks for line in ["", "", *block]]
        return head + (body[1:] if self._module.errors else body)

    def _variable_lines(self) -> Iterator[str]:
        for name in dict.fromkeys(self._variables.values()):
            yield f"{name} = {self._scope.use('TypeVar')}({literal(name)})"

    def _names(self, parameters: Sequence[TypeParameter]) -> list[str]:
        """Return the names of type variables for type parameters.

        For a phantom type parameter, which has no type variable, the name is "".
        """
        return [self._variables.get(parameter.name, "") for parameter in parameters]

    # --- Errors and events

    def _error_lines(self) -> Iterator[str]:
        names = tuple(self._error_names)
        for name, error in zip(names, self._module.errors, strict=True):
            yield from lines_of(self._error(error), before=f"{name} = ")
        kind = f"tuple[{self._scope.use('MoveError')}, ...]"
        yield from lines_of(Group("", "()", names), before=f"{self._errors}: {kind} = ")

    def _error(self, error: MoveError) -> Group:
        items: list[Expression] = [Text(error.name), Text(error.sentence)]
        if error.code is not None:
            items.append(str(error.code))
        if error.constant is not None:
            items.append(f"constant={error.constant}")
        return call(self._scope.use("MoveError"), *items)

    def _event_lines(self) -> Iterator[list[str]]:
        events = [self._any(struct) for struct in self._module.structs if struct.is_event]
        if events:
            before = f"{self._events}: {self._scope.use('TypeAlias')} = "
            yield lines_of(Sum(tuple(events)), before=before)

    def _any(self, struct: StructContents) -> str:
        """Return the annotation of a struct with `Any` for each of its type arguments."""
        indices = held_parameters(struct.type_parameters)
        arguments = ", ".join([self._scope.use("Any")] * len(indices)) if indices else ""
        name = class_name(struct.name)
        return f"{name}[{arguments}]" if arguments else name

    # --- Structs

    def _struct(self, struct: StructContents) -> list[str]:
        name, indices = class_name(struct.name), held_parameters(struct.type_parameters)
        variables = [self._names(struct.type_parameters)[index] for index in indices]
        own_base = self._bases.get(struct.name)
        bases = [
            *([self._scope.base(own_base)] if own_base else []),
            self._scope.use("MoveStruct"),
            *self._generic(variables),
            "frozen=True",
        ]
        fields = tuple(
            self._expressions.codec(field.type, self._codec_names(struct.type_parameters))
            for field in struct.fields
        )
        codec = call(f"{self._scope.codecs()}.struct", name, *fields)
        self_type = f"{name}[{', '.join(variables)}]" if variables else name
        return [
            *lines_of(Group(f"class {name}", "()", tuple(bases)), after=":"),
            *docstring(struct.doc or f"The Move struct `{self._module.name}::{struct.name}`.", 4),
            "",
            *self._fields(struct.fields, self._names(struct.type_parameters), 4),
            *([""] if struct.fields else []),
            *self._identity(struct.name, indices),
            *self._codec(codec, struct.type_parameters, self_type, "ClassVar"),
        ]

    def _generic(self, variables: Sequence[str]) -> list[str]:
        return [f"{self._scope.use('Generic')}[{', '.join(variables)}]"] if variables else []

    def _fields(
        self, fields: Sequence[FieldContents], type_names: Sequence[str], indent: int
    ) -> Iterator[str]:
        margin, class_names = (
            " " * indent,
            {class_name(datatype.name) for datatype in self._module.datatypes},
        )
        for field in fields:
            name = free_name(field_name(field.name), class_names)
            class_names.add(name)
            annotation = self._expressions.annotation(field.type, type_names)
            default = " = False" if (field.name, field.type) == (_DUMMY.name, _DUMMY.type) else ""
            yield f"{margin}{name}: {annotation}{default}"
            if field.doc:
                yield from docstring(field.doc, indent)

    def _identity(self, name: str, held: Sequence[int]) -> Iterator[str]:
        yield f"    move_name = {literal(f'{self._module.name}::{name}')}"
        if held:
            comma = "," if len(held) == 1 else ""
            yield f"    bcs_takes = ({', '.join(map(str, held))}{comma})"

    def _codec_names(self, parameters: Sequence[TypeParameter]) -> list[str]:
        """Return the names of the parameters of the method `bcs`, which are codecs."""
        names: list[str] = []
        for parameter in parameters:
            names.append(unused(f"of_{parameter.name.lower()}", names))
        return names

    def _codec(
        self,
        codec: Expression,
        parameters: Sequence[TypeParameter],
        own: str,
        marker: str,
    ) -> Iterator[str]:
        """Yield the attribute `bcs`.

        For a generic type, `bcs` is a function that takes codecs and returns the codec.
        """
        bcs = self._scope.codecs()
        indices = held_parameters(parameters)
        if not indices:
            kind = f"{bcs}.Codec[{own}]"
            annotation = f"{self._scope.use(marker)}[{kind}]" if marker else kind
            assert isinstance(codec, Group)
            late_codec = call(f"{bcs}.late", Group(f"lambda: {codec.head}", "()", codec.items))
            yield from lines_of(late_codec, 4, f"bcs: {annotation} = ")
            return
        names, variables = self._codec_names(parameters), self._names(parameters)
        codec_parameters = tuple(
            f"{names[index]}: {bcs}.Codec[{variables[index]}]" for index in indices
        )
        yield ""
        yield "    @staticmethod"
        returned = f" -> {bcs}.Codec[{own}]"
        definition = Group("def bcs", "()", codec_parameters, returned, is_definition=True)
        yield from lines_of(definition, 4, after=":")
        yield '        """Return the codec, given the codecs of the type arguments."""'
        yield from lines_of(codec, 8, "return ")

    # --- Enums

    def _enum(self, enum: EnumContents) -> list[str]:
        name, indices = class_name(enum.name), held_parameters(enum.type_parameters)
        variables = self._names(enum.type_parameters)
        codecs = tuple(self._variant_codec(enum, variant) for variant in enum.variants)
        codec = call(f"{self._scope.codecs()}.choice", Text(enum.name), *codecs)
        order = [variables[index] for index in variant_parameters(enum)]
        # The name is unqualified because an enum may have the name of one of its variants, or
        # `Variant`.
        self_type = f"Variant[{', '.join(order)}]" if order else "Variant"
        kinds = Sum(tuple(self._variant_type(enum, variant) for variant in enum.variants))
        return [
            f"class {name}({self._scope.use('MoveEnum')}):",
            *docstring(enum.doc or f"The Move enum `{self._module.name}::{enum.name}`.", 4),
            "",
            *(line for variant in enum.variants for line in self._variant(enum, variant)),
            *lines_of(kinds, 4, f"Variant: {self._scope.use('TypeAlias')} = "),
            "",
            *self._identity(enum.name, indices),
            *self._codec(codec, enum.type_parameters, self_type, ""),
        ]

    def _variant(self, enum: EnumContents, variant: VariantContents) -> list[str]:
        names = self._names(enum.type_parameters)
        used = [names[index] for index in sorted(used_parameters(variant.types))]
        bases = (self._scope.use("MoveVariant"), *self._generic(used), "frozen=True")
        return [
            *lines_of(Group(f"class {variant_name(variant.name)}", "()", bases), 4, after=":"),
            *docstring(variant.doc or f"The variant `{variant.name}`.", 8),
            "",
            *self._fields(variant.fields, names, 8),
            *([""] if variant.fields else []),
        ]

    def _variant_type(self, enum: EnumContents, variant: VariantContents) -> str:
        names = self._names(enum.type_parameters)
        used = [names[index] for index in sorted(used_parameters(variant.types))]
        name = variant_name(variant.name)
        return f"{name}[{', '.join(used)}]" if used else name

    def _variant_codec(self, enum: EnumContents, variant: VariantContents) -> Expression:
        name = f"{class_name(enum.name)}.{variant_name(variant.name)}"
        codec_names = self._codec_names(enum.type_parameters)
        fields = [self._expressions.codec(field.type, codec_names) for field in variant.fields]
        codec = call(f"{self._scope.codecs()}.struct", name, *fields)
        return Group("", "()", (name, codec))


def _free_names(names: Iterable[str], taken: set[str]) -> list[str]:
    """Return the names, add an underscore to each name in `taken`, and add all to `taken`.

    In Move, a struct, a constant, and a function of one module may share a name.
    """
    free_names = []
    for name in names:
        free_names.append(free_name(name, taken))
        taken.add(free_names[-1])
    return free_names


def _inner_names(module: ModuleContents) -> Iterator[str]:
    """Yield the names of the variants and fields inside a module's classes."""
    variants = [variant for enum in module.enums for variant in enum.variants]
    yield from (variant_name(variant.name) for variant in variants)
    holders: list[StructContents | VariantContents] = [*module.structs, *variants]
    for holder in holders:
        yield from (field_name(field.name) for field in holder.fields)


def _type_variables(module: ModuleContents, defined: Collection[str]) -> dict[str, str]:
    """Return a dict from names of type parameters to names of type variables.

    A type variable must not have the name of a field or a variant. Inside a class, that name would
    hide the type variable.
    """
    used_names = {*defined, *_inner_names(module)}
    variables: dict[str, str] = {}
    for datatype in module.datatypes:
        for index in held_parameters(datatype.type_parameters):
            name = datatype.type_parameters[index].name
            if name not in variables:
                variables[name] = free_name(function_name(name), used_names)
                used_names.add(variables[name])
    return variables
