"""The generator of bindings: for any package, the bindings are only data and declarations.

An input is the length of a module file in four bytes, the module file, and a Move source. The
source need not belong to the module.
"""

import ast
import re
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st
from msgspec.structs import replace

from fuzzing.corpus import framework_files, user_packages
from fuzzing.finding import Broken
from fuzzing.module_mutation import mutants
from fuzzing.mutation import mutated, weighted
from fuzzing.rows import with_row
from nexus_tools.errors import NexusError
from nexus_tools.sui.bcs import byte_vector
from nexus_tools.sui.bindings.generator import PackageSource, generate
from nexus_tools.sui.bytecode import (
    CompiledModule,
    Constant,
    MalformedModule,
    VectorToken,
    deserialize,
    serialize,
)
from nexus_tools.sui.localnet.framework import load_framework

HOSTILE_NAMES = (
    "E\nimport os\nos.system('true')",
    'E"); __import__("os").system("true"); ("',
    "E = __import__('os').system('true')",
    "E\\",
    "E\u202e",
    "\ufeffE",
    "",
    "1",
    "_",
)
"""Texts that are not Move identifiers. Error names in bytecode may be such texts."""

RESERVED_NAMES = (
    *("__init__", "__builtins__", "__debug__", "__name__", "__getattr__", "__class__", "__x", "__"),
    *("int", "bool", "bytes", "tuple", "str", "staticmethod", "ClassVar", "annotations", "class"),
    *("None", "True", "import", "lambda", "match", "type", "print", "exec", "bcs", "move_name"),
    *("MoveError", "MoveStruct", "TypeVar", "Types", "TYPES", "ERRORS", "package", "builder"),
    *("result", "self", "Variant", "AnyEvent", "_bcs", "_inputs", "_1", "_0_", "T0", "t0_type"),
)
"""Move identifiers with a meaning in Python or in generated code."""

_HOSTILE_TEXTS = (
    '"""',
    '""',
    "\\",
    '\\"""',
    "'''",
    "\0",
    "\r",
    "\x0c",
    "\u2028",
    "\u202e",
    "{",
    "\n",
)
_NODES = (
    *(ast.Module, ast.Expr, ast.Constant, ast.ImportFrom, ast.alias, ast.Assign, ast.AnnAssign),
    *(ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Dict),
    *(ast.Call, ast.keyword, ast.Lambda, ast.arguments, ast.arg, ast.BinOp, ast.BitOr),
    *(ast.ClassDef, ast.FunctionDef, ast.Return),
)
_ORIGINS = {"__future__", "typing", "collections.abc", "nexus_tools.sui.bindings.runtime"}
_CALLED = {"TypeVar", "MoveError", "Types", "VectorTag", "StructTag"}
_CALLED_IN = {
    "codecs": None,
    "inputs": None,
    "Address": {"of"},
    "package": {"type_tag"},
    "builder": {"move_call"},
}
_PATH = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*/)?[A-Za-z_][A-Za-z0-9_]*\.py", re.ASCII)


def inputs() -> st.SearchStrategy[bytes]:
    """Return modules with other names, texts, types and code, and sources with hostile comments."""
    files = [*framework_files(), *(file for one in user_packages() for file in one.values())]
    modules = [deserialize(file) for file in files]
    changed = st.builds(_renamed, mutants(modules), st.lists(_changes(), max_size=6))
    file = weighted((7, changed.map(serialize)), (1, mutated(files)))
    return st.builds(packed, file, _sources())


def packed(file: bytes, source: str) -> bytes:
    """Return the input for a module file and its source."""
    return len(file).to_bytes(4, "little") + file + source.encode("utf-8", "replace")


def check(data: bytes) -> str:
    """Generate the bindings, and compare their syntax tree with the allowed elements."""
    size = int.from_bytes(data[:4], "little")
    file, source = data[4 : 4 + size], data[4 + size :].decode("utf-8", "replace")
    try:
        deserialize(file)
    except MalformedModule:
        return "malformed"
    package = PackageSource("a package of users", (file,), {"hostile.move": source})
    try:
        found = generate(package, lambda address: load_framework()[bytes(address)].modules)
    except NexusError as error:
        return f"refused: {error.code}"
    check_bindings(found.files)
    return "generated"


def check_bindings(files: Mapping[str, str]) -> None:
    """Raise `Broken` if the path or the text of a file is not allowed for bindings."""
    for path, text in files.items():
        if not _PATH.fullmatch(path):
            raise Broken(f"the path does not belong to a module:  {path!r}")
        tree = ast.parse(text)
        compile(text, path, "exec")
        imported = _imported(tree)
        for node in ast.walk(tree):
            if not isinstance(node, _NODES):
                raise Broken(f"unexpected syntax in bindings: {type(node).__name__}")
            if isinstance(node, ast.Call) and not _is_expected(node.func, imported, tree):
                raise Broken(f"unexpected call in bindings: {ast.unparse(node.func)}")
        for statement in tree.body:
            _check_statement(statement, imported)


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module imports, by their local names."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            if not node.level and node.module not in _ORIGINS:
                raise Broken(f"unexpected import in bindings: {node.module}")
            found |= {
                name.asname or name.name: "sibling" if node.level else name.name
                for name in node.names
            }
    return found


def _is_expected(called: ast.expr, imported: dict[str, str], tree: ast.Module) -> bool:
    if isinstance(called, ast.Name):
        own = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        return imported.get(called.id) in _CALLED or called.id in own
    if not isinstance(called, ast.Attribute):
        return False
    if called.attr == "bcs":  # the codec of a generic class of this or another module
        return True
    root = called.value
    if not isinstance(root, ast.Name):
        return False
    name = imported.get(root.id, root.id)
    return name in _CALLED_IN and called.attr in (_CALLED_IN[name] or {called.attr})


def _check_statement(statement: ast.stmt, imported: dict[str, str]) -> None:
    """Check that no definition of a module hides an import, or has a special meaning in Python."""
    names = []
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        names = [statement.name]
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [ast.unparse(target) for target in targets]
    for name in names:
        if name in imported or (name.startswith("__") and not name.endswith("____")):
            raise Broken(f"unexpected definition in bindings: {name}")


# --- Inputs


_Change = tuple[bool, int, str]


def _changes() -> st.SearchStrategy[_Change]:
    """Return modules in which any text replaces a name or a constant."""
    identifiers = st.one_of(
        st.sampled_from(RESERVED_NAMES), st.from_regex(r"\A[a-zA-Z_][a-zA-Z0-9_]{1,6}\Z")
    )
    texts = st.one_of(st.sampled_from(HOSTILE_NAMES), st.text(max_size=12), identifiers)
    places = st.integers(0, 2**16)
    return st.one_of(
        st.tuples(st.just(True), places, identifiers),
        st.tuples(st.just(False), places, texts),
    )


def _renamed(module: CompiledModule, changes: Sequence[_Change]) -> CompiledModule:
    for is_name, place, text in changes:
        if is_name:
            module = replace(module, identifiers=with_text(module.identifiers, place, text))
        else:
            module = replace(module, constants=with_error_name(module, place, text))
    return module


def with_text(names: Sequence[str], place: int, text: str) -> tuple[str, ...]:
    """Return the names, one of which is replaced by this text."""
    return with_row(names, place, lambda _: text)


def with_error_name(module: CompiledModule, place: int, text: str) -> tuple[Constant, ...]:
    """Return the constants of a module, one of which is replaced by this text, as bytes."""
    data = byte_vector.encode(text.encode("utf-8", "replace"))
    return with_row(module.constants, place, lambda _: Constant(VectorToken("u8"), data))


def _sources() -> st.SearchStrategy[str]:
    hostile = st.lists(
        st.one_of(st.sampled_from(_HOSTILE_TEXTS), st.text(max_size=8)), max_size=5
    ).map("".join)
    return st.builds(_source, st.sampled_from(("boxes", "probe", "coin", "tool")), hostile)


def _source(module: str, doc: str) -> str:
    return (
        f"/// {doc}\nmodule a::{module} {{\n/** {doc} */\nconst EBad: u64 = 1;\n"
        f'#[error]\nconst `{doc}`: vector<u8> = b"{doc}";\n}}\n'
    )
