"""Calls of on-chain tools: what their Move functions take, and the commands that call them.

A stranger's code runs in a transaction of whoever calls it. A `TxContext` would tell it, and all
that it calls, that this one is the sender: by it a tool could settle other invocations in the name
of a leader, or give away what the sender owns. So no function that takes one is called.
"""

from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings import on_chain_call
from nexus_tools.contracts.move_bindings.workflows import inputs as run_inputs
from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.sui.bindings.runtime import ObjectInput
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage, Object
from nexus_tools.sui.types.transaction import Argument
from nexus_tools.sui.types.type_tag import (
    StructTag,
    TypeTag,
    parse_struct_tag,
    parse_type_tag,
    short_name,
)
from nexus_tools.tool import ToolDefinition

if TYPE_CHECKING:
    from nexus_tools.sui.bytecode import CompiledModule, FunctionDefinition, SignatureToken

_MAX_MODULES = 256
_FRAMEWORK = Address.of(2)
_CONTEXT = (_FRAMEWORK, "tx_context", "TxContext")
_RANDOM = (_FRAMEWORK, "random", "Random")


@dataclass(frozen=True, slots=True)
class MoveFunctionCall:
    """A function as a transaction calls it, after the `Call`: objects, and which it changes."""

    package: Address
    module: str
    function: str
    type_arguments: tuple[TypeTag, ...]
    objects: tuple[tuple[Address, bool], ...]


class AttemptOfRun(NamedTuple):
    """An attempt, and the closed invocations that have some of its inputs."""

    execution: ObjectInput
    dag: Address
    sources: Sequence[Address]


class FunctionReader:
    """Reads from a network how functions of tools are called; packages never change."""

    def __init__(
        self,
        read: Callable[[Sequence[Address]], Coroutine[Any, Any, Sequence[Object | None]]],
        deployment: Deployment,
    ) -> None:
        """`read` gives objects by their ids, as `SuiClient.objects` does."""
        self._read = read
        self._deployment = deployment
        self._modules: OrderedDict[tuple[Address, str], CompiledModule] = OrderedDict()

    async def call_of(self, definition: ToolDefinition) -> MoveFunctionCall:
        """How the function of an on-chain tool is called.

        Raises `function_unknown`, or `function_unfit` for one that no leader can call.
        """
        assert definition.function is not None
        unknown = [each for each in definition.function.objects if "::" in each]
        if unknown:
            raise _unfit(
                definition, f"the object {unknown[0]} is not known: --package names its package"
            )
        package, module, name = definition.url.split("::")
        place = Address.parse(package)
        compiled = await self._module(place, module)
        found = _find(compiled, name)
        if found is None:
            raise NotFoundError("function_unknown", f"there is no function {definition.url}")
        try:
            kinds = tuple(map(parse_type_tag, definition.function.type_arguments))
        except NexusError as error:
            raise _unfit(definition, f"a type argument is none: {error.message}") from error
        changes = self._changes(compiled, found, definition)
        objects = tuple(map(Address.parse, definition.function.objects))
        return MoveFunctionCall(
            place, module, name, kinds, tuple(zip(objects, changes, strict=True))
        )

    async def witness_of(self, definition: ToolDefinition) -> StructTag:
        """The type of its witness, by the version of the package that has defined it first.

        Raises `function_unknown`.
        """
        assert definition.function is not None
        witness = parse_struct_tag(definition.function.witness)
        package = await self._package(Address.parse(definition.url.split("::")[0]))
        for origin in package.type_origins:
            if (origin.module, origin.datatype) == (witness.module, witness.name):
                return StructTag(origin.package, witness.module, witness.name, witness.type_params)
        short = short_name(witness)
        raise NotFoundError("function_unknown", f"the package of {definition.url} has no {short}")

    async def _package(self, package: Address) -> MovePackage:
        (found,) = await self._read([package])
        if found is None or not isinstance(found.data, MovePackage):
            raise NotFoundError("function_unknown", f"there is no package {package}")
        return found.data

    async def _module(self, package: Address, name: str) -> "CompiledModule":
        from nexus_tools.sui.bytecode import deserialize  # noqa: PLC0415 - for on-chain tools alone

        if (package, name) not in self._modules:
            modules = dict((await self._package(package)).modules)
            if name not in modules:
                raise NotFoundError("function_unknown", f"there is no module {package}::{name}")
            self._modules[package, name] = deserialize(modules[name])
            if len(self._modules) > _MAX_MODULES:
                self._modules.popitem(last=False)
        return self._modules[package, name]

    def _changes(
        self,
        module: "CompiledModule",
        function: "FunctionDefinition",
        definition: ToolDefinition,
    ) -> tuple[bool, ...]:
        """Which of its objects the function changes. Raises `function_unfit`."""
        from nexus_tools.sui.bytecode import (  # noqa: PLC0415 - for on-chain tools alone
            ReferenceToken,
            Visibility,
        )

        assert definition.function is not None
        handle = module.function_handles[function.handle]
        parameters = module.signatures[handle.parameters]
        if function.visibility is not Visibility.PUBLIC:
            raise _unfit(definition, "it is not public")
        if module.signatures[handle.returns]:
            raise _unfit(definition, "it returns something, which no transaction keeps")
        given = len(definition.function.type_arguments)
        if len(handle.type_parameters) != given:
            wanted = len(handle.type_parameters)
            raise _unfit(definition, f"it takes {wanted} type arguments, not {given}")
        call = (self._deployment.original_id, "on_chain_call", "Call")
        if not parameters or not _is(module, parameters[0], call, mutable=True):
            raise _unfit(definition, "its first parameter is no `&mut Call`")
        taken = parameters[1:]
        if any(_is(module, each, _CONTEXT) for each in taken):
            raise _unfit(definition, "with a TxContext it could act in the name of who calls it")
        if any(_is(module, each, _RANDOM) for each in taken):
            raise _unfit(definition, "it takes `&Random`, after which no command may follow")
        changes = [each.mutable for each in taken if isinstance(each, ReferenceToken)]
        if len(changes) != len(taken):
            raise _unfit(definition, "it takes something else than references to objects")
        objects = len(definition.function.objects)
        if len(changes) != objects:
            raise _unfit(definition, f"it takes {len(changes)} objects, not {objects}")
        return tuple(changes)


def _find(module: "CompiledModule", name: str) -> "FunctionDefinition | None":
    named = (each for each in module.function_definitions if _name(module, each) == name)
    return next(named, None)


def _name(module: "CompiledModule", function: "FunctionDefinition") -> str:
    return module.function_id(function.handle)[2]


def _is(
    module: "CompiledModule",
    token: "SignatureToken",
    kind: tuple[Address, str, str],
    *,
    mutable: bool = False,
) -> bool:
    """Whether a parameter is a reference to this type, at least so mutable."""
    from nexus_tools.sui.bytecode import DatatypeToken, ReferenceToken  # noqa: PLC0415

    if not isinstance(token, ReferenceToken) or not isinstance(token.target, DatatypeToken):
        return False
    address, *names = module.datatype_id(token.target.handle)
    return (Address(address), *names) == kind and (token.mutable or not mutable)


def _unfit(definition: ToolDefinition, problem: str) -> ValidationError:
    return ValidationError(
        "function_unfit",
        f"no leader can call {definition.url} of {definition.fqn}: {problem}",
        hint="a tool's function is `public fun f(call: &mut Call, …)` with references to shared or"
        " immutable objects, without a TxContext, and returns nothing",
    )


def open_call(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: Address,
    tool: Address,
    attempt: AttemptOfRun | None = None,
) -> Argument:
    """The commands that open a call; those of an attempt put its inputs together before."""
    if attempt is None:
        return on_chain_call.open(builder, deployment.package, invocation, tool)
    inputs = put_together(builder, deployment, invocation, attempt)
    return run_inputs.open(
        builder, deployment.workflows, inputs, attempt.execution, invocation, tool
    )


def put_together(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: Address,
    attempt: AttemptOfRun,
) -> Argument:
    """The commands that put the inputs of an attempt together on chain."""
    workflows = deployment.workflows
    inputs = run_inputs.of(builder, workflows, attempt.execution, attempt.dag, invocation)
    for source in attempt.sources:
        run_inputs.load(builder, workflows, inputs, source)
    return inputs


def add_function(builder: TransactionBuilder, call: Argument, function: MoveFunctionCall) -> None:
    """The command that gives a call to the tool's function."""
    objects = [builder.object(each, mutable=mutable) for each, mutable in function.objects]
    place = function.package, function.module, function.function
    builder.move_call(*place, [call, *objects], list(function.type_arguments))


def close_call(
    builder: TransactionBuilder,
    deployment: Deployment,
    call: Argument,
    invocation: Address,
    leader: Address | None,
) -> None:
    """The command that settles with what came of a call, in the name of a leader or of nobody."""
    package = deployment.package
    if leader is None:
        on_chain_call.close_by_anyone(builder, package, call, invocation)
    else:
        on_chain_call.close(builder, package, call, invocation, leader)
