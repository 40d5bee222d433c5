"""An executor that records what it executes."""

from nexus_tools.localnet.execution import COMMANDS, Executor, ObjectStore, packages_of
from nexus_tools.localnet.natives import NATIVES
from nexus_tools.localnet.trace.call_recorder import CallRecorder
from nexus_tools.localnet.trace.command_recorder import CommandRecorder
from nexus_tools.localnet.trace.value_reader import ValueReader
from nexus_tools.localnet.vm import ObservedMachine


class TracingExecutor(Executor):
    """Executes one transaction as any other would, with a machine of its own.

    The machine reads the packages of `store`. `calls` and `commands` have what was recorded.
    """

    def __init__(self, store: ObjectStore) -> None:
        machine = ObservedMachine(NATIVES, packages_of(store))
        values = ValueReader(machine)
        self.calls = CallRecorder(values)
        self.commands = CommandRecorder(self.calls, values)
        machine.observer = self.calls
        super().__init__(machine, self.commands.table(COMMANDS))
