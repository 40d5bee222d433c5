"""The reference of the Move packages, from the comments of their sources."""

from documents.page import ROOT
from nexus_tools.sui.move_source import SourceFunction, SourceModule, SourceStruct, read_modules
from website.cells import cell

INTRODUCTION = """# The Move packages

For authors of Move code and of clients: what `nexus_tools`, `nexus_workflows` and `upgrade_lock`
have on chain, by their own comments.

"""
SOURCES = (
    ROOT / "move/nexus_tools/sources",
    ROOT / "move/nexus_workflows/sources",
    ROOT / "move/upgrade_lock/sources",
)


def page() -> str:
    """The page."""
    modules = [
        module
        for folder in SOURCES
        for path in sorted(folder.glob("*.move"))
        for module in read_modules(path.read_text(encoding="utf-8"))
    ]
    return INTRODUCTION + "\n".join(map(_module, modules))


def _module(module: SourceModule) -> str:
    errors = [each for each in module.constants if each.name[0] == "E" and each.doc]
    parts = [f"## {module.name}\n", f"{module.doc}\n"]
    parts += [_struct(each) for each in module.structs if each.is_public]
    parts += [
        _function(module.name, each) for each in module.functions if each.visibility == "public"
    ]
    if errors:
        rows = [f"| `{each.name}` | {cell(each.doc)} |" for each in errors]
        parts.append("\n".join(("| aborts with | because |", "|---|---|", *rows)) + "\n")
    return "\n".join(parts)


def _struct(struct: SourceStruct) -> str:
    abilities = f" has {', '.join(struct.abilities)}" if struct.abilities else ""
    fields = [f"| `{each.name}` | `{each.type}` | {cell(each.doc)} |" for each in struct.fields]
    table = "\n".join(("| field | type | is |", "|---|---|---|", *fields)) + "\n" if fields else ""
    return f"### struct {struct.name}{abilities}\n\n{struct.doc}\n\n{table}"


def _function(module: str, function: SourceFunction) -> str:
    parameters = "".join(f"    {each.name}: {each.type},\n" for each in function.parameters)
    types = f"<{', '.join(function.type_parameters)}>" if function.type_parameters else ""
    returns = f": {function.returns}" if function.returns else ""
    head = (
        f"public fun {function.name}{types}(\n{parameters}){returns}"
        if parameters
        else (f"public fun {function.name}{types}(){returns}")
    )
    return f"### {module}::{function.name}\n\n```move\n{head}\n```\n\n{function.doc}\n"
