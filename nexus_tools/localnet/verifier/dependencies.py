"""What a module says of other modules is what those declare, and its friends are of its package.

Source: `move-bytecode-verifier/src/{dependencies,friends}.rs`.
"""

from collections.abc import Callable

from nexus_tools.bytecode import (
    CompiledModule,
    DatatypeHandle,
    DatatypeToken,
    FunctionHandle,
    ReferenceToken,
    Signature,
    SignatureToken,
    VectorToken,
    Visibility,
)
from nexus_tools.localnet.verifier.errors import VerificationError

ModuleId = tuple[bytes, str]
"""The address (32 bytes) and the name of a module."""
Dependencies = Callable[[ModuleId], CompiledModule | None]


def verify_dependencies(module: CompiledModule, dependencies: Dependencies) -> None:
    """Raise `VerificationError` for a missing module, or for what one does not declare so."""
    _Dependencies(module, dependencies).verify()


class _Dependencies:
    def __init__(self, module: CompiledModule, find: Dependencies) -> None:
        self._module = module
        self._find = find
        self._declarations: dict[int, _Declarations] = {}

    def verify(self) -> None:
        module = self._module
        for index in range(len(module.module_handles)):
            if index == module.self_handle:
                continue
            address, name = module.module_id(index)
            found = self._find((address, name))
            if found is None:
                message = f"there is no module {name} at 0x{address.hex()}"
                raise self._refused("MISSING_DEPENDENCY", message)
            self._declarations[index] = _Declarations(found, module)
        for index, datatype in enumerate(module.datatype_handles):
            if datatype.module != module.self_handle:
                self._verify_datatype(index, datatype)
        for index, function in enumerate(module.function_handles):
            if function.module != module.self_handle:
                self._verify_function(index, function)

    def _refused(self, status: str, message: str) -> VerificationError:
        return VerificationError(status, message, self._module.name)

    def _verify_datatype(self, index: int, handle: DatatypeHandle) -> None:
        _, owner, name = self._module.datatype_id(index)
        declared = self._declarations[handle.module].datatypes.get(name)
        if declared is None:
            raise self._refused("LOOKUP_FAILED", f"{owner} has no type {name}")
        # A module may know less of a type than its owner declares: fewer abilities, and more that
        # is asked of type arguments. It may not take it for more.
        is_compatible = (
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
        if not is_compatible:
            raise self._refused("TYPE_MISMATCH", f"{owner} declares {name} in another way")

    def _verify_function(self, index: int, handle: FunctionHandle) -> None:
        _, owner, name = self._module.function_id(index)
        declarations = self._declarations[handle.module]
        declared = declarations.callable.get(name)
        if declared is None:
            message = f"{owner} has no function {name} that may be called from here"
            raise self._refused("LOOKUP_FAILED", message)
        mine, theirs = self._module.signatures, declarations.module.signatures
        is_same = (
            len(handle.type_parameters) == len(declared.type_parameters)
            and not any(
                needed & ~given
                for given, needed in zip(
                    handle.type_parameters, declared.type_parameters, strict=True
                )
            )
            and self._same_all(
                mine[handle.parameters], theirs[declared.parameters], declarations.module
            )
            and self._same_all(mine[handle.returns], theirs[declared.returns], declarations.module)
        )
        if not is_same:
            raise self._refused("TYPE_MISMATCH", f"{owner} declares {name} in another way")

    def _same_all(self, mine: Signature, theirs: Signature, owner: CompiledModule) -> bool:
        return len(mine) == len(theirs) and all(
            self._same(one, another, owner) for one, another in zip(mine, theirs, strict=True)
        )

    def _same(self, mine: SignatureToken, theirs: SignatureToken, owner: CompiledModule) -> bool:
        """Whether a type of this module and one of the owner are the same."""
        if isinstance(mine, DatatypeToken) and isinstance(theirs, DatatypeToken):
            return self._module.datatype_id(mine.handle) == owner.datatype_id(
                theirs.handle
            ) and self._same_all(mine.type_arguments, theirs.type_arguments, owner)
        if isinstance(mine, VectorToken) and isinstance(theirs, VectorToken):
            return self._same(mine.element, theirs.element, owner)
        if isinstance(mine, ReferenceToken) and isinstance(theirs, ReferenceToken):
            return mine.mutable is theirs.mutable and self._same(mine.target, theirs.target, owner)
        return mine == theirs


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


def verify_friends(module: CompiledModule) -> None:
    """Refuse a module that names itself or a stranger as friend. Raises `VerificationError`."""
    if module.module_handles[module.self_handle] in module.friends:
        message = "a module is its own friend"
        raise VerificationError("INVALID_FRIEND_DECL_WITH_SELF", message, module.name)
    if any(module.addresses[friend.address] != module.address for friend in module.friends):
        status = "INVALID_FRIEND_DECL_WITH_MODULES_OUTSIDE_ACCOUNT_ADDRESS"
        raise VerificationError(status, "a friend has another address", module.name)
