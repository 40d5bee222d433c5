import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.bridges.naming import Naming, distinct_fqns, duplicate_fqns, label
from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolFqn


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("read_file", "read_file"),
        ("Read File", "read-file"),
        ("get.user/info", "get-user-info"),
        ("2fa", "t-2fa"),
        ("_private", "t-_private"),
        ("x", "x-"),
        # printf '%s' '名前' | sha256sum
        ("名前", "t-7ec26292"),
        ("", "t-e3b0c442"),
        ("--x--", "x-"),
        ("größe", "gr-e"),
    ],
)
def test_label_replaces_invalid_characters_by_dashes(name, expected):
    assert label(name) == expected


def test_label_of_more_than_sixty_characters_is_cut_and_ends_in_its_digest():
    # printf '%s' "$(printf 'a%.0s' {1..61})" | sha256sum
    assert label("a" * 60) == "a" * 60
    assert label("a" * 61) == "a" * 51 + "-35d5fc17"


def test_long_names_with_a_common_start_have_distinct_labels():
    assert label("a" * 100 + "b") != label("a" * 100 + "c")


@pytest.mark.parametrize("order", [1, -1])
def test_distinct_fqns_adds_digits_when_names_collide(order):
    names = [("get.user",), ("get/user",), ("get-user",), ("put",)][::order]
    fqns = distinct_fqns([(Naming("io.one").fqn("mcp", *labels), labels) for labels in names])
    # printf '%s' get.user | sha256sum
    assert [str(fqn) for fqn in fqns][::order] == [
        "io.one.get-user-9c0265de@1",
        "io.one.get-user-83c73368@1",
        "io.one.get-user@1",
        "io.one.put@1",
    ]


def test_distinct_fqns_takes_digits_of_all_labels():
    names = [("my.space", "x!"), ("my.space", "x?")]
    fqns = distinct_fqns([(Naming("io.one").fqn("sos", *labels), labels) for labels in names])
    # printf 'my.space\0x!' | sha256sum
    assert [fqn.name for fqn in fqns] == ["x--6cda89da", "x--ac26c07a"]


def test_distinct_fqns_keeps_one_name_in_two_places():
    labels = ("get.user",)
    fqn = Naming().fqn("mcp", *labels)
    assert distinct_fqns([(fqn, labels), (fqn, labels)]) == [fqn, fqn]


@given(st.lists(st.text(), unique=True, max_size=8), st.randoms())
def test_distinct_fqns_does_not_depend_on_the_order(names, random):
    def named(texts):
        pairs = [(Naming().fqn("mcp", text), (text,)) for text in texts]
        return dict(zip(texts, distinct_fqns(pairs), strict=True))

    shuffled = random.sample(names, len(names))
    assert named(names) == named(shuffled)
    assert len(set(named(names).values())) == len(names)


@given(st.text())
def test_label_of_every_name_is_valid_in_an_fqn(name):
    assert ToolFqn.parse(f"a0.b0.{label(name)}@1").name == label(name)


def test_fqn_is_local_without_a_domain():
    assert str(Naming().fqn("nora", "Read File")) == "local.nora.read-file@1"


def test_fqn_has_the_given_domain_and_version():
    assert str(Naming("io.nora", 3).fqn("nora", "read_file")) == "io.nora.read_file@3"


def test_fqn_appends_further_labels_to_the_domain():
    fqn = Naming("io.sos").fqn("sos", "My Project", "build")
    assert (fqn.domain, fqn.name) == ("io.sos.my-project", "build")


@pytest.mark.parametrize("domain", ["nora", "io..nora", "IO.nora", "io.n", "a" * 300 + ".bb"])
def test_invalid_domain_is_refused(domain):
    with pytest.raises(ValidationError) as caught:
        Naming(domain).fqn("nora", "x1")
    assert caught.value.code == "fqn_invalid"


def test_invalid_version_is_refused():
    with pytest.raises(ValidationError):
        Naming("io.nora", 0).fqn("nora", "x1")


def test_collisions_are_names_that_occur_more_than_once():
    one, two = (Naming().fqn("nora", name) for name in ("one", "two"))
    assert duplicate_fqns([one, two, one, one]) == {one: 3}
    assert duplicate_fqns([one, two]) == {}
