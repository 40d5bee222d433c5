from pathlib import Path

from nexus_tools.sui.bytecode import deserialize, serialize
from nexus_tools.sui.localnet.framework import load_framework

LANGUAGE = Path(__file__).parents[3] / "conformance" / "vm" / "language" / "bytecode"


def test_serialized_module_matches_compiler_output():
    framework = [file for package in load_framework().values() for file in package.modules]
    for file in (*framework, *[path.read_bytes() for path in LANGUAGE.glob("*.mv")]):
        assert serialize(deserialize(file)) == file
