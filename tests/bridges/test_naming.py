import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.bridges.naming import Naming, collisions, label
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
        ("", "t--"),
        ("名前", "t--"),
        ("--x--", "x-"),
        ("größe", "gr-e"),
    ],
)
def test_a_label_is_the_name_with_dashes_for_what_it_cannot_have(name, expected):
    assert label(name) == expected


def test_a_label_of_more_than_sixty_characters_is_cut_and_ends_in_its_digest():
    # printf '%s' "$(printf 'a%.0s' {1..61})" | sha256sum
    assert label("a" * 60) == "a" * 60
    assert label("a" * 61) == "a" * 51 + "-35d5fc17"


def test_long_names_with_one_beginning_have_labels_of_their_own():
    assert label("a" * 100 + "b") != label("a" * 100 + "c")


@given(st.text())
def test_every_name_has_a_label_that_an_fqn_takes(name):
    assert ToolFqn.parse(f"a0.b0.{label(name)}@1").name == label(name)


def test_without_a_domain_the_name_is_for_this_machine():
    assert str(Naming().fqn("nora", "Read File")) == "local.nora.read-file@1"


def test_the_domain_and_the_version_are_as_given():
    assert str(Naming("io.nora", 3).fqn("nora", "read_file")) == "io.nora.read_file@3"


def test_labels_before_the_name_are_of_the_domain():
    fqn = Naming("io.sos").fqn("sos", "My Project", "build")
    assert (fqn.domain, fqn.name) == ("io.sos.my-project", "build")


@pytest.mark.parametrize("domain", ["nora", "io..nora", "IO.nora", "io.n", "a" * 300 + ".bb"])
def test_a_domain_that_is_none_is_refused(domain):
    with pytest.raises(ValidationError) as caught:
        Naming(domain).fqn("nora", "x1")
    assert caught.value.code == "fqn_invalid"


def test_a_version_that_is_none_is_refused():
    with pytest.raises(ValidationError):
        Naming("io.nora", 0).fqn("nora", "x1")


def test_names_that_stand_more_than_once_collide():
    one, two = (Naming().fqn("nora", name) for name in ("one", "two"))
    assert collisions([one, two, one, one]) == {one: 3}
    assert collisions([one, two]) == {}
