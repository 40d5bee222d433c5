"""The reference of the Move packages, generated from the comments of their sources."""

from documents.page import ROOT
from nexus_tools.sui.move_source import SourceFunction, SourceModule, SourceStruct, read_modules
from website.cells import cell

INTRODUCTION = """# The Move packages

For authors of Move code and of clients: the public types and functions of `nexus_tools`,
`nexus_workflows` and `upgrade_lock`, with the comments of their sources.

"""
SOURCES = (
    ROOT / "move/nexus_tools/sources",
    ROOT / "move/nexus_workflows/sources",
    ROOT / "move/upgrade_lock/sources",
)


def page() -> str:
    """Return the page."""
    modules = [
        module
        for folder in SOURCES
        for path in sorted(folder.glob("*.move"))
        for module in read_modules(path.read_text(encoding="utf-8"))
    ]
    return INTRODUCTION + "\n".join(map(_module, modules))


def _module(module: SourceModule) -> str:
    errors = [constant for constant in module.constants if constant.name[0] == "E" and constant.doc]
    parts = [f"## {module.name}\n", f"{module.doc}\n"]
    parts += [_struct(struct) for struct in module.structs if struct.is_public]
    parts += [
        _function(module.name, function)
        for function in module.functions
        if function.visibility == "public"
    ]
    if errors:
        rows = [f"| `{error.name}` | {cell(error.doc)} |" for error in errors]
        parts.append("\n".join(("| aborts with | because |", "|---|---|", *rows)) + "\n")
    return "\n".join(parts)


def _struct(struct: SourceStruct) -> str:
    abilities = f" has {', '.join(struct.abilities)}" if struct.abilities else ""
    fields = [f"| `{field.name}` | `{field.type}` | {cell(field.doc)} |" for field in struct.fields]
    table = "\n".join(("| field | type | is |", "|---|---|---|", *fields)) + "\n" if fields else ""
    return f"### struct {struct.name}{abilities}\n\n{struct.doc}\n\n{table}"


def _function(module: str, function: SourceFunction) -> str:
    parameters = "".join(
        f"    {parameter.name}: {parameter.type},\n" for parameter in function.parameters
    )
    types = f"<{', '.join(function.type_parameters)}>" if function.type_parameters else ""
    returns = f": {function.returns}" if function.returns else ""
    head = (
        f"public fun {function.name}{types}(\n{parameters}){returns}"
        if parameters
        else (f"public fun {function.name}{types}(){returns}")
    )
    return f"### {module}::{function.name}\n\n```move\n{head}\n```\n\n{function.doc}\n"
