"""The generated files, and how they are written to a folder."""

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nexus_tools.errors import NexusError
from nexus_tools.sui.bindings.generator import PackageSource, generate, write_bindings
from nexus_tools.sui.localnet.framework import load_framework

ROOT = Path(__file__).parents[3]
USE = """
from nexus_tools.sui.bindings.runtime import Address, Package, TransactionBuilder
from nexus_tools.sui.bcs import u8, u64
from shapes import TYPES, boxes, import_
from shapes.tokens.token import Amount

Either = boxes.Either.Variant[int, str]

def use(builder: TransactionBuilder, package: Package, either: Either) -> int:
    reveal_type(boxes.Box.bcs(u64).decode(b""))
    reveal_type(boxes.Either.bcs(u8, u64).decode(b""))
    reveal_type(boxes.Worn.bcs.decode(b"").amount)
    reveal_type(boxes.open(builder, package, boxes.BOXES.type_tag(package), Address.of(1))[0])
    boxes.left(builder, package, "no number", 1)
    match either:
        case boxes.Either.None_():
            return 0
        case boxes.Either.Right(pos0=number):
            return number
        case boxes.Either.Left(value=value):
            return len(value)
"""

EITHER = " | ".join(f"shapes.boxes.Either.{name}" for name in ("None_", "Right[int]", "Left[int]"))
ARGUMENT = " | ".join(
    f"nexus_tools.sui.types.transaction.{name}"
    for name in ("GasCoin", "InputArgument", "Result", "NestedResult")
)


def framework(address):
    return load_framework()[bytes(address)].modules


def run(*command, folder):
    environment = os.environ | {"MYPYPATH": str(ROOT), "RUFF_NO_CACHE": "true"}
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def strictly_checked(folder, *what):
    settings = folder / "mypy.ini"
    silent = "[mypy-nexus_tools.*]\nfollow_imports = silent\n"  # checked separately
    settings.write_text(f"[mypy]\nstrict = true\n{silent}")
    return run("mypy", "--config-file", settings, f"--cache-dir={folder}", *what, folder=folder)


@pytest.fixture
def bindings(shapes_source, tokens_source):
    return generate(shapes_source, framework, {"tokens": tokens_source})


def fails(make):
    with pytest.raises(NexusError) as caught:
        make()
    return caught.value


# --- The code


def test_generated_code_is_formatted_and_has_nothing_unused(generated):
    options = ("--isolated", "--line-length=100", ".")
    formatted = run("ruff", "format", "--diff", *options, folder=generated)
    assert formatted.returncode == 0, formatted.stdout
    checked = run("ruff", "check", "--extend-select=I,D2,D3,UP,RUF", *options, folder=generated)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.long
def test_generated_types_describe_values_and_arguments(generated, tmp_path):
    (tmp_path / "shapes").symlink_to(generated)
    (tmp_path / "use.py").write_text(USE)
    checked = strictly_checked(tmp_path, "use.py", "shapes")
    told = checked.stdout.splitlines()
    assert [line.split('"')[1] for line in told if "Revealed" in line] == [
        "shapes.boxes.Box[int]",
        EITHER,
        "shapes.tokens.token.Amount[str]",
        ARGUMENT,
    ]
    errors = [line for line in told if ": error: " in line]
    assert len(errors) == 1, checked.stdout
    assert 'incompatible type "str"; expected "int | ' in errors[0]


@pytest.mark.long
def test_generated_types_hold_for_all_package_names(names, tmp_path):
    (tmp_path / "names").symlink_to(names)
    checked = strictly_checked(tmp_path, "names")
    assert checked.returncode == 0, checked.stdout


def test_values_are_decoded_for_all_type_names(names, monkeypatch):
    from nexus_tools.sui.bcs import u8, u16

    monkeypatch.syspath_prepend(names.parent)
    types = importlib.import_module("names").TYPES
    assert all(types.class_of(name).bcs for name in types.names)
    assert types.class_of("sui::Own").__module__ == "names.sui"
    assert types.class_of("std::Standard").__module__ == "names.std"
    classes = importlib.import_module("names.classes")
    assert classes.ClassVar_.bcs.decode(b"\1\2") == classes.ClassVar_(1, 2)
    event = classes.AnyEvent(1, classes.MoveStruct(b"ab", 2))
    assert classes.AnyEvent.bcs.decode(b"\1\2ab\2") == event
    assert classes.Variant.bcs.decode(b"\2\1\0") == classes.Variant.TypeAlias_(1)
    assert classes.Result.bcs(u8, u16).decode(b"\0\5") == classes.Result.Result(5)
    assert classes.Result.bcs(u8, u16).decode(b"\1\5\0") == classes.Result.Error(5)
    assert types.error_of("classes", 2).name == "ERRORS"


def test_generate_is_deterministic(bindings, shapes_source, tokens_source):
    again = generate(shapes_source, framework, {"tokens": tokens_source})
    assert again == bindings
    assert list(again.files) == list(bindings.files)


def test_files_name_their_source_in_the_header(bindings):
    for path, text in bindings.files.items():
        first = text.splitlines()[0]
        assert first.startswith("# Generated by `nexus-tools package bindings` from the "), path
        assert first.endswith(": do not edit.")
        assert str(ROOT) not in text


def test_framework_is_reduced_to_the_used_types(bindings):
    assert bindings.nested == ("tokens", "sui")
    inside = {path for path in bindings.files if path.startswith("sui/")}
    assert inside == {"sui/__init__.py", "sui/linked_table.py"}
    assert "class LinkedTable(" in bindings.files["sui/linked_table.py"]
    assert "class Node(" in bindings.files["sui/linked_table.py"]  # entries of the table


def test_bindings_count_the_declarations_of_the_package(bindings):
    assert (bindings.modules, bindings.types, bindings.events) == (2, 13, 3)
    assert bindings.errors == 3


# --- Comments and names


def test_comments_and_parameter_names_come_from_the_sources(boxes):
    assert boxes.__doc__.startswith("Values in boxes: what type parameters become.\n\n| a table")
    assert inspect.getdoc(boxes.Box) == "A box.\n\nIts item is of any type."
    assert list(inspect.signature(boxes.left).parameters)[2:] == ["value", "weight"]


def test_parameters_are_named_after_types_without_sources(shapes_source, tokens_source):
    bare = PackageSource("modules", shapes_source.modules, {})
    text = generate(bare, framework, {"tokens": tokens_source}).files
    scope = text["boxes.py"]
    assert "number: int | Argument, number_2: int | Argument" in scope
    assert "box: ObjectInput, receiving: ObjectReference | Argument" in scope.replace("\n    ", " ")
    assert '"""`boxes::left(u8, u64): Either<u8, u64>`."""' in scope
    # A code contains the name and the text of its constant; plain numbers have no names.
    assert 'MoveError("ELocked", "The box is locked.", 7, ' in scope
    assert "EEmpty" not in scope
    assert "class Box(MoveStruct, Generic[T0], frozen=True):" in scope


# --- Errors of the generator


def test_missing_types_of_other_packages_are_named(shapes_source):
    error = fails(lambda: generate(shapes_source, framework))
    assert error.code == "types_not_generated"
    assert error.details == {"types": ["0x1000::token::Amount"]}
    assert "--include NAME=FOLDER" in error.hint


def test_type_missing_in_a_package_at_the_same_address_is_reported(all_at_zero):
    error = fails(lambda: generate(all_at_zero, framework))
    assert error.code == "types_not_generated"
    assert error.details == {"types": ["0x0::token::Amount"]}


def test_modules_of_two_packages_are_refused(shapes_source, tokens_source):
    both = PackageSource("both", shapes_source.modules + tokens_source.modules, {})
    assert fails(lambda: generate(both, framework)).code == "package_ambiguous"
    twice = {"again": shapes_source}
    assert fails(lambda: generate(shapes_source, framework, twice)).code == "package_twice"


@pytest.mark.parametrize("name", ["boxes", "import_", "import", "TYPES", "no-name", ""])
def test_nested_package_requires_a_free_name(shapes_source, tokens_source, name):
    error = fails(lambda: generate(shapes_source, framework, {name: tokens_source}))
    assert error.code == "bindings_name_taken"


def test_missing_framework_module_is_reported(shapes_source, tokens_source):
    along = {"tokens": tokens_source}
    error = fails(lambda: generate(shapes_source, lambda _: (), along))
    assert error.code == "framework_missing"
    assert "0x2::linked_table" in error.message


# --- The folder


def test_outdated_generated_files_are_removed(bindings, tmp_path):
    write_bindings(tmp_path / "out", bindings.files)
    kept = {path: text for path, text in bindings.files.items() if "/" not in path}
    (tmp_path / "out" / "notes.txt").write_text("mine")
    (tmp_path / "out" / "sui" / "__pycache__").mkdir()
    (tmp_path / "out" / "sui" / "__pycache__" / "linked_table.pyc").write_bytes(b"")
    write_bindings(tmp_path / "out", kept)
    found = {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")
    }
    assert found == {*kept, "notes.txt"}


def test_unchanged_file_is_not_written(bindings, tmp_path):
    write_bindings(tmp_path, bindings.files)
    os.utime(tmp_path / "boxes.py", (1, 1))
    (tmp_path / "import_.py").write_text(bindings.files["import_.py"] + "# changed\n")
    write_bindings(tmp_path, bindings.files)
    assert (tmp_path / "boxes.py").stat().st_mtime == 1
    assert (tmp_path / "import_.py").read_text() == bindings.files["import_.py"]


@pytest.mark.parametrize("name", ["my-package", "class", "2nd"])
def test_folder_that_python_cannot_import_is_refused(bindings, tmp_path, name):
    error = fails(lambda: write_bindings(tmp_path / name, bindings.files))
    assert error.code == "folder_not_importable"
    assert not (tmp_path / name).exists()


def test_folder_that_would_hide_a_python_module_is_refused(bindings, tmp_path):
    error = fails(lambda: write_bindings(tmp_path / "token", bindings.files))
    assert error.code == "folder_hides_module"
    assert not (tmp_path / "token").exists()


def test_folder_inside_a_package_hides_no_python_module(bindings, tmp_path):
    (tmp_path / "__init__.py").touch()
    write_bindings(tmp_path / "token", bindings.files)
    assert (tmp_path / "token/__init__.py").exists()


@pytest.mark.parametrize("name", ["notes.txt", "__init__.py", "boxes.py"])
def test_folder_with_other_files_is_not_changed(bindings, tmp_path, name):
    (tmp_path / name).write_text("mine")
    error = fails(lambda: write_bindings(tmp_path, bindings.files))
    assert error.code == "folder_not_generated"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_other_file_among_generated_ones_is_not_overwritten(bindings, tmp_path):
    write_bindings(tmp_path, {"__init__.py": bindings.files["__init__.py"]})
    (tmp_path / "boxes.py").write_text("mine")
    error = fails(lambda: write_bindings(tmp_path, bindings.files))
    assert (error.code, "boxes.py" in error.message) == ("folder_not_generated", True)
    assert (tmp_path / "boxes.py").read_text() == "mine"


# --- Small packages


MANIFEST = '[package]\nname = "p"\nedition = "2024"\n\n[addresses]\np = "0x0"\n'


@pytest.fixture
def imported(move_builder, tmp_path, monkeypatch, request):
    """Generate and import the bindings of a module; return `TYPES` and the module."""

    def imported(source, **along):
        name = f"bound_{request.node.name.replace('[', '_').rstrip(']')}"
        sources = {"Move.toml": MANIFEST, "sources/p.move": source}
        package = PackageSource("p", move_builder.build(sources).modules, sources)
        write_bindings(tmp_path / name, generate(package, framework, along).files)
        monkeypatch.syspath_prepend(tmp_path)
        types = importlib.import_module(name).TYPES
        return types, importlib.import_module(f"{name}.{types.modules[0]}")

    return imported


def test_structs_keep_the_names_of_our_tables(imported):
    types, module = imported(
        "module p::errors;\n"
        "/// It is bad.\nconst EBad: u64 = 3;\n"
        "public struct ERRORS has drop {}\n"
        "public struct AnyEvent has copy, drop {}\n"
        "public fun fail() { abort EBad }\n"
        "public fun tell() { sui::event::emit(AnyEvent {}) }\n"
    )
    assert types.class_of("errors::ERRORS") is module.ERRORS
    assert types.error_of("errors", 3).sentence == "It is bad."
    assert types.error_of("errors", 4) is None
    assert types.error_of("others", 3) is None
    assert types.events == ("errors::AnyEvent",)


def test_errors_are_distinguished_from_other_numbers(imported):
    _, module = imported(
        "module p::m;\n"
        "const NOT_FOUND: u64 = 0x1_0;\n"
        "const EPOCH: u64 = 7;\n"
        "const MAX: u64 = 8;\n"
        'const E_TEXT: vector<u8> = b"no error";\n'
        "/// Said\n/// twice.\nconst ELate: u64 = 9;\n"
        "public fun f(number: u64): u64 {\n"
        "    assert!(number < MAX && g(number, EPOCH), NOT_FOUND);\n"
        "    assert!(number != 1, ELate,);\n"
        "    let _ = E_TEXT;\n    number\n}\n"
        "fun g(a: u64, b: u64): bool { a < b }\n"
    )
    assert [(error.name, error.code, error.sentence) for error in module.ERRORS] == [
        ("NOT_FOUND", 16, ""),
        ("ELate", 9, "Said twice."),
    ]


def test_error_with_its_own_number_is_found_by_it(imported):
    types, module = imported(
        "module p::m;\n"
        '#[error(code = 4)]\nconst EBad: vector<u8> = b"It is bad.";\n'
        "/// A number.\n#[error]\nconst EWorse: u64 = 5;\n"
        "public fun f(bad: bool) { if (bad) abort EBad; abort EWorse }\n"
    )
    bad, worse = module.ERRORS
    assert (bad.sentence, bad.code) == ("It is bad.", 4)
    assert (worse.sentence, worse.code) == ("A number.", None)
    # Another version of the package has other lines and other constant indices.
    elsewhere = 0b1100 << 60 | 4 << 48 | 77 << 32 | 9 << 16 | 8
    assert types.error_of("m", elsewhere) is bad
    assert types.error_of("m", 5) is None


def test_nested_package_may_use_types_of_the_outer_one(shapes_source, tokens_source, tmp_path):
    files = generate(tokens_source, framework, {"shapes": shapes_source}).files
    write_bindings(tmp_path / "turned", files)
    assert "from .. import token as _root_token" in files["shapes/boxes.py"]
    done = run("turned.shapes.boxes", folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_decoder_knows_the_framework_when_it_is_generated_along(
    shapes_source, tokens_source, tmp_path, monkeypatch
):
    from nexus_tools.sui.bindings.runtime import Address, Package, StructTag

    sui = PackageSource("the package 0x2", framework(Address.of(2)), {})
    files = generate(shapes_source, framework, {"tokens": tokens_source, "sui": sui}).files
    write_bindings(tmp_path / "with_framework", files)
    monkeypatch.syspath_prepend(tmp_path)
    types = importlib.import_module("with_framework").TYPES
    decoder = types.at(Package.at(Address.of(9)))
    assert decoder.knows(StructTag(Address.of(2), "clock", "Clock"))
    assert not decoder.knows(StructTag(Address.of(0), "token", "Badge"))


def test_decoder_takes_nested_packages_by_name(shapes):
    from nexus_tools.sui.bindings.runtime import Address, Package

    package = Package.at(Address.of(9))
    error = fails(lambda: shapes("").TYPES.at(package, token=package))
    assert (error.code, "token" in error.message) == ("type_unknown", True)


def test_generate_refuses_malformed_modules():
    broken = PackageSource("broken", (b"no module",), {})
    assert fails(lambda: generate(broken, framework)).code == "module_malformed"
