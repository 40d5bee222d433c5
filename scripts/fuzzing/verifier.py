"""The verifier and the VM: our verdicts must equal Sui's, and accepted code must run.

An input is the number of a user package, and a file that replaces the package's module of the same
name. If the number is 255, the file is a mutated module of the framework, which is verified but not
executed.
"""

import hashlib
import random
from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st
from msgspec.structs import replace

from fuzzing.calls import call_all
from fuzzing.corpus import PACKAGE, framework_files, user_packages
from fuzzing.finding import Broken
from fuzzing.module_mutation import mutants
from fuzzing.mutation import mutated, weighted
from fuzzing.network import DEPENDENCIES, network, transaction
from genuine import ACCEPTED, NOT_COMPARED, callable_functions, verdict
from nexus_tools.sui.bytecode import CompiledModule, MalformedModule, deserialize, serialize
from nexus_tools.sui.localnet.natives import NATIVES
from nexus_tools.sui.localnet.verifier import VerificationError, verify_module, verify_sui_module
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure
from packages import framework_modules, framework_packages, package_of

_FRAMEWORK = 255


def inputs() -> st.SearchStrategy[bytes]:
    """Return modules with changed instructions, types and abilities, and some changed bytes."""
    users = [_mutants(number, list(files.values())) for number, files in enumerate(user_packages())]
    return weighted((8, st.one_of(users)), (1, _mutants(_FRAMEWORK, framework_files())))


def _mutants(number: int, files: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    head = bytes([number])
    changed = mutants([deserialize(file) for file in files]).map(serialize)
    return weighted((7, changed), (1, mutated(files))).map(lambda file: head + file)


def check(data: bytes) -> str:
    """Compare the verdicts of both verifiers, and call the functions of accepted modules."""
    number, file = (data[0] if data else _FRAMEWORK), data[1:]
    try:
        module = deserialize(file)
    except MalformedModule:
        return "malformed"
    if number == _FRAMEWORK:
        admitted = _status(module, {}) == ACCEPTED
        return f"of the framework, {'admitted' if admitted else 'refused'}"
    package = user_packages()[number % len(user_packages())]
    if module.address != PACKAGE or module.name not in package:
        return "another module"
    files = {**package, module.name: file}
    status = _status(module, files)
    compared = _compare(module, files, status)
    if status != ACCEPTED:
        return f"refused{compared}"
    try:
        verify_sui_module(module)
    except VerificationError:
        return f"refused by Sui{compared}"
    _publish(module, files)
    return f"called{compared}" if _call(module, files) else f"admitted{compared}"


def _status(module: CompiledModule, files: dict[str, bytes]) -> str:
    own = {(bytes(PACKAGE), name): deserialize(file) for name, file in files.items()}
    known = {**framework_modules(), **own}
    try:
        verify_module(module, known.get)
    except VerificationError as error:
        return error.status
    return ACCEPTED


def _compare(module: CompiledModule, files: dict[str, bytes], status: str) -> str:
    if status in NOT_COMPARED:
        return ", not compared"
    for function in callable_functions(module):
        genuine = verdict(PACKAGE, list(files.values()), module.name, function)
        if genuine not in (None, status):
            raise Broken(f"verdicts differ: ours is {status}, the genuine one is {genuine}")
        if genuine is not None:
            return ""
    return ", not compared"


def _publish(module: CompiledModule, files: dict[str, bytes]) -> None:
    """Publish the package on the network, which verifies it again."""
    net = network()
    net.restart()
    modules = [serialize(_unpublished(deserialize(file))) for file in files.values()]
    builder = TransactionBuilder()
    cap = builder.publish(modules, DEPENDENCIES)
    builder.transfer_objects([cap], net.accounts[0].address)
    executed, _ = net.node.simulate(transaction(net.node, net.accounts[0], builder))
    status = executed.effects.status
    if not isinstance(status, ExecutionFailure):
        return
    kind = status.error.kind
    # Other modules of the package may name elements that the changed module no longer has.
    verified = len(files) == 1 and kind is ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR
    if verified or kind in (ErrorKind.INVARIANT_VIOLATION, ErrorKind.VM_INVARIANT_VIOLATION):
        raise Broken(f"a verified module cannot be published: {kind.name} {module.name}")


def _unpublished(module: CompiledModule) -> CompiledModule:
    zero = bytes(len(PACKAGE))
    addresses = tuple(zero if address == PACKAGE else address for address in module.addresses)
    return replace(module, addresses=addresses)


@cache
def _machine() -> Machine:
    return Machine(NATIVES, framework_packages().get)


def _call(module: CompiledModule, files: dict[str, bytes]) -> int:
    machine = _machine()
    machine.types.publish(package_of(PACKAGE, files.values()))
    seed = hashlib.blake2b(files[module.name], digest_size=8).digest()
    try:
        return call_all(machine, PACKAGE, module.name, random.Random(seed))
    finally:
        machine.types.forget(PACKAGE)
