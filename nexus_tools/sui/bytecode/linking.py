"""What a module says of other modules, beside what those declare.

Source: `move-bytecode-verifier/src/dependencies.rs`. Types and functions of another module stand in
a file with their abilities, type parameters and signatures, as they were when it was compiled.
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
"""Gives a module; None if there is none."""


class Mismatch(Struct, frozen=True):
    """Something of another module (`module`) that is missing there (`name`), or not as it was.

    `name` is that of a type or a function; it is empty if the whole module is missing.
    """

    module: ModuleId
    name: str
    is_missing: bool

    def __str__(self) -> str:
        address, owner = self.module
        place = f"0x{address.hex()}::{owner}"
        if not self.name:
            return f"there is no module {place}"
        if self.is_missing:
            return f"{place} has no {self.name} that may be used from here"
        return f"{place} declares {self.name} in another way"


def mismatches(module: CompiledModule, dependencies: Dependencies) -> Iterator[Mismatch]:
    """Whatever makes it impossible to link a module: modules, then types, then functions."""
    declarations: dict[int, _Declarations] = {}
    for index in range(len(module.module_handles)):
        if index == module.self_handle:
            continue
        found = dependencies(module.module_id(index))
        if found is None:
            yield Mismatch(module.module_id(index), "", is_missing=True)
        else:
            declarations[index] = _Declarations(found, module)
    for index, datatype in enumerate(module.datatype_handles):
        if datatype.module in declarations:
            owner, name = declarations[datatype.module], module.datatype_id(index)[2]
            declared = owner.datatypes.get(name)
            if declared is None or not _is_known(datatype, declared):
                yield Mismatch(module.module_id(datatype.module), name, declared is None)
    for index, function in enumerate(module.function_handles):
        if function.module in declarations:
            owner, name = declarations[function.module], module.function_id(index)[2]
            callable_ = owner.callable.get(name)
            if callable_ is None or not _is_called(module, function, owner.module, callable_):
                yield Mismatch(module.module_id(function.module), name, callable_ is None)


def _is_known(handle: DatatypeHandle, declared: DatatypeHandle) -> bool:
    """Whether a module takes a type for no more than its owner declares.

    It may know less of it: fewer abilities, and more that is asked of type arguments.
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
    """Whether a module calls a function with the signature that its owner declares."""

    def same(mine: SignatureToken, theirs: SignatureToken) -> bool:
        if isinstance(mine, DatatypeToken) and isinstance(theirs, DatatypeToken):
            return module.datatype_id(mine.handle) == owner.datatype_id(theirs.handle) and same_all(
                mine.type_arguments, theirs.type_arguments
            )
        if isinstance(mine, VectorToken) and isinstance(theirs, VectorToken):
            return same(mine.element, theirs.element)
        if isinstance(mine, ReferenceToken) and isinstance(theirs, ReferenceToken):
            return mine.mutable is theirs.mutable and same(mine.target, theirs.target)
        return mine == theirs

    def same_all(mine: Signature, theirs: Signature) -> bool:
        return len(mine) == len(theirs) and all(map(same, mine, theirs))

    return (
        len(handle.type_parameters) == len(declared.type_parameters)
        and not any(
            needed & ~given
            for given, needed in zip(handle.type_parameters, declared.type_parameters, strict=True)
        )
        and same_all(module.signatures[handle.parameters], owner.signatures[declared.parameters])
        and same_all(module.signatures[handle.returns], owner.signatures[declared.returns])
    )


class _Declarations:
    """What a module declares, by name, as far as another module may use it."""

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
