"""All instructions: what each does with the operand stack of a block."""

from nexus_tools.localnet.vm.translator.arithmetic import ARITHMETIC
from nexus_tools.localnet.vm.translator.block import InstructionTable
from nexus_tools.localnet.vm.translator.calls import CALLS
from nexus_tools.localnet.vm.translator.comparison import COMPARISON
from nexus_tools.localnet.vm.translator.datatypes import DATATYPES
from nexus_tools.localnet.vm.translator.locals import LOCALS
from nexus_tools.localnet.vm.translator.references import REFERENCES
from nexus_tools.localnet.vm.translator.vectors import VECTORS

INSTRUCTIONS: InstructionTable = {
    **ARITHMETIC,
    **COMPARISON,
    **LOCALS,
    **REFERENCES,
    **DATATYPES,
    **VECTORS,
    **CALLS,
}
