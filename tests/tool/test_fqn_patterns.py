import pytest

from nexus_tools.tool import FqnPatterns, ToolFqn

READ = ToolFqn.parse("xyz.example.files.read_file@2")


@pytest.mark.parametrize(
    "pattern",
    ["read_file", "read_*", "*file", "xyz.example.*", "*@2", "xyz.example.files.read_file"],
)
def test_pattern_matches_fqn_or_name(pattern):
    assert FqnPatterns(only=(pattern,)).admit(READ)
    assert not FqnPatterns(exclude=(pattern,)).admit(READ)


@pytest.mark.parametrize("pattern", ["read", "Read_file", "example", "*@1", "xyz.example", ""])
def test_pattern_matches_the_whole_name(pattern):
    assert not FqnPatterns(only=(pattern,)).admit(READ)
    assert FqnPatterns(exclude=(pattern,)).admit(READ)


def test_any_pattern_matches_and_exclude_has_priority():
    assert FqnPatterns(only=("write_*", "read_*")).admit(READ)
    assert not FqnPatterns(only=("read_*",), exclude=("write_*", "*_file")).admit(READ)
