import pytest

from nexus_tools.bridges.sos.system_file import MAX_BYTES, System
from nexus_tools.errors import ValidationError

ACTION = "action: {a: {tool: ns.one}}\n"


def problem(write_system, text):
    with pytest.raises(ValidationError) as raised:
        System.read(write_system(text))
    assert raised.value.code == "system_invalid"
    return raised.value.message


def test_aliases_that_grow_beyond_all_bounds_are_refused(write_system):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "values" in problem(write_system, "\n".join(lines))


def test_an_alias_that_leads_to_itself_is_refused(write_system):
    assert "itself" in problem(write_system, "namespace: &a {b: *a}")


def test_a_large_file_is_not_read(write_system):
    text = "# " + "x" * MAX_BYTES
    assert f"larger than {MAX_BYTES} bytes" in problem(write_system, text)


def test_a_file_that_nests_too_deep_is_refused(write_system):
    problem(write_system, "namespace: " + "[" * 5_000 + "]" * 5_000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2", "twice"),
        ("- a", "no mapping of sections"),
        ("", "empty"),
        ("a: [", "flow"),
        ("action: 5", "action is no mapping"),
        ("? [1]\n: 2", "no text"),
        ("x: !!python/object/apply:os.getcwd []", "python/object"),
    ],
)
def test_what_is_no_system_is_refused_with_the_reason(write_system, text, words):
    assert words in problem(write_system, text)


def test_bytes_that_are_no_text_are_refused(place):
    file = place / "sos-system.yaml"
    file.write_bytes(b"a: \xff")
    with pytest.raises(ValidationError, match="UTF-8"):
        System.read(file)


def test_dates_stay_text_and_keys_become_it(write_system):
    system = System.read(write_system(ACTION + "namespace: {day: 2024-01-02, 1: one, true: yes}"))
    assert system.document["namespace"] == {"day": "2024-01-02", "1": "one", "True": True}


def test_the_document_says_where_it_lies(write_system, place):
    system = System.read(write_system(ACTION))
    assert system.document["meta"] == {"system_name": "place", "system_path": str(place)}


async def test_a_file_that_is_no_system_is_refused_by_the_bridge(write_system, discover):
    write_system("- a")
    [refusal] = (await discover()).refused
    assert "no mapping of sections" in refusal.reason
