import pytest

from nexus_tools.bridges.sos.system_file import MAX_BYTES, System
from nexus_tools.errors import ValidationError

ACTION = "action: {a: {tool: ns.one}}\n"


def problem(write_system, text):
    with pytest.raises(ValidationError) as raised:
        System.read(write_system(text))
    assert raised.value.code == "system_invalid"
    return raised.value.message


def test_alias_bomb_is_refused(write_system):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "values" in problem(write_system, "\n".join(lines))


def test_self_referencing_alias_is_refused(write_system):
    assert "itself" in problem(write_system, "namespace: &a {b: *a}")


def test_large_file_is_not_read(write_system):
    text = "# " + "x" * MAX_BYTES
    assert f"larger than {MAX_BYTES} bytes" in problem(write_system, text)


def test_too_deeply_nested_file_is_refused(write_system):
    problem(write_system, "namespace: " + "[" * 5_000 + "]" * 5_000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2", "duplicate key"),
        ("- a", "expected a mapping of sections"),
        ("", "empty"),
        ("a: [", "flow"),
        ("action: 5", "action must be a mapping"),
        ("? [1]\n: 2", "a key must be a string"),
        ("x: !!python/object/apply:os.getcwd []", "python/object"),
    ],
)
def test_invalid_system_is_refused_with_the_reason(write_system, text, words):
    assert words in problem(write_system, text)


def test_non_text_bytes_are_refused(place):
    file = place / "sos-system.yaml"
    file.write_bytes(b"a: \xff")
    with pytest.raises(ValidationError, match="UTF-8"):
        System.read(file)


def test_dates_stay_text_and_keys_become_text(write_system):
    system = System.read(write_system(ACTION + "namespace: {day: 2024-01-02, 1: one, true: yes}"))
    assert system.document["namespace"] == {"day": "2024-01-02", "1": "one", "True": True}


def test_document_contains_its_own_path(write_system, place):
    system = System.read(write_system(ACTION))
    assert system.document["meta"] == {"system_name": "place", "system_path": str(place)}


async def test_bridge_refuses_an_invalid_system(write_system, discover):
    write_system("- a")
    [refusal] = (await discover()).rejected
    assert "expected a mapping of sections" in refusal.reason
