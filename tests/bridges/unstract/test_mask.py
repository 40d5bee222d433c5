from nexus_tools.bridges.unstract.mask import Mask


def test_values_of_the_operator_are_replaced_everywhere_in_a_value():
    mask = Mask.of(["sk-12345", ""])
    value = {"log": ["my key is sk-12345", 7, None], "more": {"text": "visible"}}
    assert mask.json(value) == {"log": ["my key is ***", 7, None], "more": {"text": "visible"}}


def test_the_longest_value_is_replaced_first():
    mask = Mask.of(["secret", "secret-and-more"])
    assert mask.text("secret-and-more secret") == "*** ***"


def test_very_short_values_are_words_and_stay():
    assert Mask.of(["on"]).text("turn it on") == "turn it on"


def test_a_mask_does_not_show_what_it_hides():
    assert "sk-12345" not in repr(Mask.of(["sk-12345"]))
