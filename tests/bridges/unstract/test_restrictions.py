import pytest

from nexus_tools.bridges.unstract.properties import Restrictions, size_in_bytes
from nexus_tools.errors import ValidationError


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("200MB", 209_715_200),
        ("1 KB", 1_024),
        ("1k", 1_024),
        ("1KiB", 1_024),
        ("2GB", 2_147_483_648),
        ("1tb", 1_099_511_627_776),
        ("17", 17),
        ("17B", 17),
        (17, 17),
    ],
)
def test_sizes_use_powers_of_1024(size, expected):
    assert size_in_bytes(size) == expected


@pytest.mark.parametrize(
    "size", ["", "MB", "1.5MB", "-1", -1, True, "1 PB", "<TODO>", [], "9" * 40]
)
def test_invalid_size_is_refused(size):
    with pytest.raises(ValidationError, match="maxFileSize"):
        size_in_bytes(size)


def test_file_of_the_maximum_size_is_accepted_but_not_one_byte_more():
    restrictions = Restrictions.parse({"maxFileSize": "1KB"})
    assert restrictions.problem("a.txt", 1_024) == ""
    assert "1024" in restrictions.problem("a.txt", 1_025)


@pytest.mark.parametrize("allowed", [["*"], ["pdf", "*"], None])
def test_star_allows_every_type(allowed):
    assert Restrictions.parse({"allowedFileTypes": allowed}).problem("a.exe", 1) == ""


@pytest.mark.parametrize("name", ["a.pdf", "A.PDF", "a.b.pdf", "a.jpg", "a.jpeg", "a.txt"])
def test_types_are_extensions_or_mime_types(name):
    restrictions = Restrictions.parse({"allowedFileTypes": [".PDF", "jpeg", "text/plain"]})
    assert restrictions.problem(name, 1) == ""


@pytest.mark.parametrize("name", ["a.docx", "pdf", "a", "a.pdf.exe", ".pdf"])
def test_other_types_are_refused(name):
    restrictions = Restrictions.parse({"allowedFileTypes": ["pdf"]})
    assert "pdf" in restrictions.problem(name, 1)


@pytest.mark.parametrize("document", [[], {"allowedFileTypes": "pdf"}, {"allowedFileTypes": [1]}])
def test_invalid_restrictions_are_refused(document):
    with pytest.raises(ValidationError):
        Restrictions.parse(document)


def test_every_file_is_accepted_without_restrictions():
    assert Restrictions.parse(None).problem("anything", 10**12) == ""
