"""Move sources that declare the interface of compiled modules, so that code can be compiled.

A stub has the datatypes and the public functions of a module. Functions are `native`, because
callers do not need their bodies. Code compiled against stubs has the same bytes as code compiled
against the framework's sources. The only exception is the code of expanded macros, because the
stubs have their own macros.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from nexus_tools.sui.bytecode import (
    Ability,
    CompiledModule,
    DatatypeHandle,
    DatatypeToken,
    FieldDefinition,
    FunctionDefinition,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
    Visibility,
    deserialize,
)
from nexus_tools.sui.localnet.compiler import overlay
from nexus_tools.sui.localnet.compiler.macros import MACROS
from nexus_tools.sui.localnet.framework import FRAMEWORK_NAMES, FrameworkPackage, Release
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM

_KEYWORDS_IN_ORDER = """
    abort acquires as break const continue copy else entry enum false for friend fun has if
    invariant let loop macro match module move mut native package phantom public return script
    spec struct true type use while
"""
_KEYWORDS = frozenset(_KEYWORDS_IN_ORDER.split())
_ABILITY_NAMES = (
    (Ability.COPY, "copy"),
    (Ability.DROP, "drop"),
    (Ability.STORE, "store"),
    (Ability.KEY, "key"),
)
_MANIFESTS: Mapping[bytes, str] = {
    MOVE_STDLIB: '[package]\nname = "MoveStdlib"\nedition = "2024"\npublished-at = "0x1"\n\n'
    '[addresses]\nstd = "0x1"\n',
    SUI_FRAMEWORK: '[package]\nname = "Sui"\nedition = "2024"\npublished-at = "0x2"\n\n'
    '[dependencies]\nMoveStdlib = { local = "../move-stdlib" }\n\n'
    '[addresses]\nsui = "0x2"\n',
    SUI_SYSTEM: '[package]\nname = "SuiSystem"\nedition = "2024"\npublished-at = "0x3"\n\n'
    '[dependencies]\nMoveStdlib = { local = "../move-stdlib" }\n'
    'Sui = { local = "../sui-framework" }\n\n'
    '[addresses]\nsui_system = "0x3"\n',
}


@lru_cache(maxsize=4)
def stub_packages(
    release: Release, *, with_entries: bool = False
) -> Mapping[bytes, Mapping[str, str]]:
    """Return the stub packages 0x1, 0x2 and 0x3 of a release, each as a map of paths to texts.

    If `with_entries` is set, stubs include entry functions that only transactions and tests may
    call.
    """
    return {
        address: _stub_package(release.packages[address], with_entries=with_entries)
        for address in _MANIFESTS
    }


def _stub_package(package: FrameworkPackage, *, with_entries: bool) -> Mapping[str, str]:
    files = {"Move.toml": _MANIFESTS[package.address]}
    for data in package.modules:
        module = deserialize(data)
        files[f"sources/{module.name}.move"] = stub(module, with_entries=with_entries)
    return files


def interface_stubs(name: str, modules: Sequence[bytes]) -> Mapping[str, str]:
    """Return a stub package with the given name for modules at 0x0, as a map of paths to texts."""
    manifest = f'[package]\nname = "{name}"\nedition = "2024"\n\n[addresses]\n{name} = "0x0"\n'
    files = {"Move.toml": manifest}
    for data in modules:
        module = deserialize(data)
        text = stub(module).replace(f"{_address(module.address)}::", f"{name}::")
        files[f"sources/{module.name}.move"] = text
    return files


def stub(module: CompiledModule, *, with_entries: bool = False) -> str:
    """Return the Move source of a module's interface, with or without private entry functions."""
    return _Stub(module, with_entries=with_entries).render()


class _Stub:
    """The generator of the stub of one module."""

    def __init__(self, module: CompiledModule, *, with_entries: bool) -> None:
        self._module = module
        self._with_entries = with_entries
        self._own = (module.address, module.name)
        self._path = f"{_address(module.address)}::{module.name}"

    def render(self) -> str:
        module = self._module
        lines = [*self._attribute_of_module(), f"module {self._path};"]
        for struct in module.struct_definitions:
            handle = module.datatype_handles[struct.handle]
            lines.append(self._struct(handle, struct.fields or ()))
        for enum in module.enum_definitions:
            handle = module.datatype_handles[enum.handle]
            variants = [
                self._name(variant.name) + self._variant_body(variant.fields)
                for variant in enum.variants
            ]
            head = f"public enum {self._declared(handle)}{_has(handle.abilities)}"
            lines.append(f"{head} {{ {', '.join(variants)} }}")
        for function in module.function_definitions:
            is_entry = self._with_entries and function.is_entry
            if is_entry or function.visibility is Visibility.PUBLIC:
                lines += self._function(function)
        lines += [MACROS[self._path]] if self._path in MACROS else []
        for method, name in overlay.METHODS.get(self._path, {}).items():
            lines.append(f"public use fun {name} as {method};")
        return "\n".join(lines) + "\n"

    def _attribute_of_module(self) -> list[str]:
        primitive = overlay.PRIMITIVES.get(self._path)
        return [f"#[defines_primitive({primitive})]"] if primitive else []

    def _struct(self, handle: DatatypeHandle, fields: Sequence[FieldDefinition]) -> str:
        head = f"public struct {self._declared(handle)}"
        names = self._field_names(fields)
        if self._is_filler(fields, names):
            return f"{head}{_has(handle.abilities)} {{}}"
        if _is_positional(names):
            return f"{head}{self._positional(fields)}{_has(handle.abilities)};"
        return f"{head}{_has(handle.abilities)} {self._named(fields, names)}"

    def _is_filler(self, fields: Sequence[FieldDefinition], names: Sequence[str]) -> bool:
        """Return whether the only field is the field that the compiler adds to empty structs."""
        return list(names) == ["dummy_field"] and fields[0].type == "bool"

    def _variant_body(self, fields: Sequence[FieldDefinition]) -> str:
        names = self._field_names(fields)
        if not fields:
            return ""
        if _is_positional(names):
            return self._positional(fields)
        return " " + self._named(fields, names)

    def _field_names(self, fields: Sequence[FieldDefinition]) -> list[str]:
        return [self._module.identifiers[field.name] for field in fields]

    def _positional(self, fields: Sequence[FieldDefinition]) -> str:
        return f"({', '.join(self._type(field.type) for field in fields)})"

    def _named(self, fields: Sequence[FieldDefinition], names: Sequence[str]) -> str:
        pairs = zip(names, fields, strict=True)
        items = [f"{_escape(name)}: {self._type(field.type)}" for name, field in pairs]
        return f"{{ {', '.join(items)} }}"

    def _declared(self, handle: DatatypeHandle) -> str:
        parameters = [
            ("phantom " if parameter.is_phantom else "")
            + _type_parameter(index, parameter.constraints)
            for index, parameter in enumerate(handle.type_parameters)
        ]
        return self._name(handle.name) + _angled(parameters)

    def _function(self, function: FunctionDefinition) -> list[str]:
        module = self._module
        handle = module.function_handles[function.handle]
        type_parameters = [
            _type_parameter(index, constraints)
            for index, constraints in enumerate(handle.type_parameters)
        ]
        parameters = [
            f"a{index}: {self._type(token)}"
            for index, token in enumerate(module.signatures[handle.parameters])
        ]
        returns = [self._type(token) for token in module.signatures[handle.returns]]
        signature = f"{_angled(type_parameters)}({', '.join(parameters)}){_returns(returns)}"
        name = module.identifiers[handle.name]
        return [
            *self._attributes_of_function(name),
            f"public native fun {_escape(name)}{signature};",
        ]

    def _attributes_of_function(self, name: str) -> list[str]:
        attributes = []
        if name in overlay.INDEX_FUNCTIONS.get(self._path, ()):
            attributes.append("#[syntax(index)]")
        if name in overlay.INSTRUCTIONS.get(self._path, ()):
            attributes.append("#[bytecode_instruction]")
        return attributes

    def _type(self, token: SignatureToken) -> str:
        if isinstance(token, ReferenceToken):
            return ("&mut " if token.mutable else "&") + self._type(token.target)
        if isinstance(token, VectorToken):
            return f"vector<{self._type(token.element)}>"
        if isinstance(token, TypeParameterToken):
            return f"T{token.index}"
        if isinstance(token, DatatypeToken):
            return self._datatype(token)
        return token

    def _datatype(self, token: DatatypeToken) -> str:
        address, module, name = self._module.datatype_id(token.handle)
        path = name if (address, module) == self._own else f"{_address(address)}::{module}::{name}"
        return path + _angled([self._type(argument) for argument in token.type_arguments])

    def _name(self, index: int) -> str:
        return _escape(self._module.identifiers[index])


def _address(address: bytes) -> str:
    return FRAMEWORK_NAMES.get(address, f"0x{address.hex()}")


def _escape(name: str) -> str:
    return f"`{name}`" if name in _KEYWORDS else name


def _angled(items: Sequence[str]) -> str:
    return f"<{', '.join(items)}>" if items else ""


def _type_parameter(index: int, constraints: Ability) -> str:
    names = [name for ability, name in _ABILITY_NAMES if ability in constraints]
    return f"T{index}" + (f": {' + '.join(names)}" if names else "")


def _has(abilities: Ability) -> str:
    names = [name for ability, name in _ABILITY_NAMES if ability in abilities]
    return f" has {', '.join(names)}" if names else ""


def _returns(types: Sequence[str]) -> str:
    if not types:
        return ""
    return f": {types[0]}" if len(types) == 1 else f": ({', '.join(types)})"


def _is_positional(names: Sequence[str]) -> bool:
    """Return whether these are the names that the compiler gives to positional fields."""
    return bool(names) and list(names) == [f"pos{index}" for index in range(len(names))]
