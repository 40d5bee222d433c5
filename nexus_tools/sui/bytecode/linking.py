"""The link check: a module's handles must match the declarations in other modules.

Source: `move-bytecode-verifier/src/dependencies.rs`. For each type and function of another module
that a module uses, its file stores the abilities, type parameters and signatures that were declared
at compile time.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from nexus_tools.sui.bytecode.module import (
    CompiledModule,
    DatatypeHandle,
    FunctionHandle,
    Visibility,
)
from nexus_tools.sui.bytecode.token import (
    DatatypeToken,
    ReferenceToken,
    Signature,
    SignatureToken,
    VectorToken,
)

ModuleId = tuple[bytes, str]
"""The address (32 bytes) and the name of a module."""
Dependencies = Callable[[ModuleId], CompiledModule | None]
"""A function that returns a module, or None if it does not exist."""


class Mismatch(Struct, frozen=True):
    """A definition in another module that is missing or incompatible.

    `name` is the name of a type or a function in `module`. If the whole module is missing, `name`
    is empty.
    """

    module: ModuleId
    name: str
    is_missing: bool

    def __str__(self) -> str:
        address, owner = self.module
        module_path = f"0x{address.hex()}::{owner}"
        if not self.name:
            return f"module {module_path} does not exist"
        if self.is_missing:
            return f"{self.name} in {module_path} does not exist or is not accessible"
        return f"{module_path} declares {self.name} differently"


def mismatches(module: CompiledModule, dependencies: Dependencies) -> Iterator[Mismatch]:
    """Yield the missing or incompatible definitions that prevent linking a module.

    The order is missing modules, then types, then functions.
    """
    declarations: dict[int, _Declarations] = {}
    for index in range(len(module.module_handles)):
        if index == module.self_handle:
            continue
        dependency = dependencies(module.module_id(index))
        if dependency is None:
            yield Mismatch(module.module_id(index), "", is_missing=True)
        else:
            declarations[index] = _Declarations(dependency, module)
    for index, datatype in enumerate(module.datatype_handles):
        if datatype.module in declarations:
            owner, name = declarations[datatype.module], module.datatype_id(index)[2]
            declared = owner.datatypes.get(name)
            if declared is None or not _is_known(datatype, declared):
                yield Mismatch(module.module_id(datatype.module), name, declared is None)
    for index, function in enumerate(module.function_handles):
        if function.module in declarations:
            owner, name = declarations[function.module], module.function_id(index)[2]
            declared_function = owner.callable.get(name)
            if declared_function is None or not _is_called(
                module, function, owner.module, declared_function
            ):
                yield Mismatch(module.module_id(function.module), name, declared_function is None)


def _is_known(handle: DatatypeHandle, declared: DatatypeHandle) -> bool:
    """Return whether a module's handle of a type is compatible with the owner's declaration.

    The handle may have fewer abilities than the declaration. The handle's type parameters may
    require more abilities than the declared type parameters.
    """
    return (
        not handle.abilities & ~declared.abilities
        and len(handle.type_parameters) == len(declared.type_parameters)
        and all(
            declared_parameter.is_phantom >= parameter.is_phantom
            and not declared_parameter.constraints & ~parameter.constraints
            for parameter, declared_parameter in zip(
                handle.type_parameters, declared.type_parameters, strict=True
            )
        )
    )


def _is_called(
    module: CompiledModule, handle: FunctionHandle, owner: CompiledModule, declared: FunctionHandle
) -> bool:
    """Return whether a module's handle of a function is compatible with the owner's declaration."""

    def same(own: SignatureToken, declared_token: SignatureToken) -> bool:
        if isinstance(own, DatatypeToken) and isinstance(declared_token, DatatypeToken):
            return module.datatype_id(own.handle) == owner.datatype_id(
                declared_token.handle
            ) and same_all(own.type_arguments, declared_token.type_arguments)
        if isinstance(own, VectorToken) and isinstance(declared_token, VectorToken):
            return same(own.element, declared_token.element)
        if isinstance(own, ReferenceToken) and isinstance(declared_token, ReferenceToken):
            return own.mutable is declared_token.mutable and same(own.target, declared_token.target)
        return own == declared_token

    def same_all(own: Signature, declared_token: Signature) -> bool:
        return len(own) == len(declared_token) and all(map(same, own, declared_token))

    return (
        len(handle.type_parameters) == len(declared.type_parameters)
        and not any(
            required & ~provided
            for provided, required in zip(
                handle.type_parameters, declared.type_parameters, strict=True
            )
        )
        and same_all(module.signatures[handle.parameters], owner.signatures[declared.parameters])
        and same_all(module.signatures[handle.returns], owner.signatures[declared.returns])
    )


class _Declarations:
    """A module's types by name, and the functions that the module `user` may call, by name."""

    def __init__(self, module: CompiledModule, user: CompiledModule) -> None:
        self.module = module
        handles = [row.handle for row in module.struct_definitions]
        handles += [row.handle for row in module.enum_definitions]
        self.datatypes = {
            module.datatype_id(handle)[2]: module.datatype_handles[handle] for handle in handles
        }
        friends = {
            (module.addresses[friend.address], module.identifiers[friend.name])
            for friend in module.friends
        }
        is_friend = (user.address, user.name) in friends
        self.callable = {
            module.function_id(row.handle)[2]: module.function_handles[row.handle]
            for row in module.function_definitions
            if row.visibility is Visibility.PUBLIC
            or (row.visibility is Visibility.FRIEND and is_friend)
        }
