import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.workflow.drawing.text import cells, truncate_end, truncate_start


@given(text=st.text(), width=st.integers(1, 30))
def test_truncated_text_fits_its_width(text, width):
    assert cells(truncate_end(text, width)) <= width
    assert cells(truncate_start(text, width)) <= width


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("xyz.example.shop.order@1", 24, "xyz.example.shop.order@1"),
        ("xyz.example.shop.order@1", 23, "…example.shop.order@1"),
        ("xyz.example.shop.order@1", 14, "…shop.order@1"),
        ("an_extraordinarily_long_name@1", 10, "…ng_name@1"),
        ("中文字符", 5, "…字符"),
    ],
)
def test_fqn_is_truncated_at_its_start(text, width, cut):
    assert truncate_start(text, width) == cut


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [("summarise", 9, "summarise"), ("summarise", 5, "summ…"), ("中文字符", 6, "中文…")],
)
def test_other_text_is_truncated_at_its_end(text, width, cut):
    assert truncate_end(text, width) == cut
