"""Documents of programs with `with` blocks: `for_each` and `loop`."""

from nexus_tools.workflow import (
    Default,
)
from tests.workflow.authoring.programs import (
    document_of,
    edges_of,
    target,
)

# --- for_each


def test_outer_values_are_available_in_every_iteration():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        posted = flow.add(post, text="x").after(found)
        with flow.for_each(found.ok.papers) as paper:
            flow.add(improve, text=paper, hints=found.ok.authors, topic=posted.ok.url)
    """)[1:] == [
        "for_each search.ok.papers improve.text",
        "normal search.ok.authors improve.hints",
        "normal post.ok.url improve.topic",
    ]


def test_for_each_iterates_several_lists_together():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers, found.ok.authors) as (paper, author):
            flow.add(improve, text=paper, hints=[], topic=author)
    """) == [
        "for_each search.ok.papers improve.text",
        "for_each search.ok.authors improve.topic",
    ]


def test_nested_for_each_collects_at_both_levels():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            related = flow.add(search, topic=paper)
            with flow.for_each(related.ok.papers) as other:
                summary = flow.add(summarise, paper=other)
            notes = flow.add(write, notes=flow.collect(summary.ok.text))
        flow.add(write, notes=flow.collect(notes.ok.text))
    """) == [
        "for_each search.ok.papers search_2.topic",
        "for_each search_2.ok.papers summarise.paper",
        "collect summarise.ok.text write.notes",
        "collect write.ok.text write_2.notes",
    ]


def test_independent_step_in_a_for_each_runs_for_each_element():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers):
            flow.add(post, text=topic)
    """) == ["for_each search.ok.papers post._after"]


def test_collect_gathers_alternatives_into_one_list():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            verdict = flow.add(judge, text=paper)
        either = flow.first(verdict.good.text, verdict.poor.text)
        flow.add(write, notes=flow.collect(either))
    """)[1:] == ["collect judge.good.text write.notes", "collect judge.poor.text write.notes"]


def test_for_each_iterates_the_first_of_several_lists():
    assert edges_of("""
        verdict = flow.add(judge, text=topic)
        found = flow.add(search, topic=verdict.good.text)
        with flow.for_each(flow.first(verdict.poor.hints, found.ok.papers)) as each:
            flow.add(post, text=each)
    """)[1:] == ["for_each judge.poor.hints post.text", "for_each search.ok.papers post.text"]


def test_parallel_limit_is_that_of_the_innermost_for_each():
    document = document_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers, parallel=4) as paper:
            related = flow.add(search, topic=paper)
            with flow.for_each(related.ok.papers) as other:
                flow.add(summarise, paper=other)
            with flow.for_each(related.ok.papers, parallel=2) as other:
                flow.add(summarise, paper=other)
    """)
    assert [vertex.parallel for vertex in document.vertices] == [32, 4, 4, 2]


# --- loop


LOOP = """
begun = flow.add(post, text=topic)
with flow.loop(text=begun.ok.url) as loop:
    better = flow.add(improve, text=loop.text, hints=[], topic=begun.ok.url)
    verdict = flow.add(judge, text=better.ok.text)
    loop.again(text=verdict.poor.text)
"""


def test_outer_values_are_available_in_every_round():
    assert edges_of(LOOP + "flow.add(post, text=verdict.good.text)") == [
        "normal post.ok.url improve.text",
        "do_while judge.poor.text improve.text",
        "static post.ok.url improve.topic",
        "normal improve.ok.text judge.text",
        "break judge.good.text post_2.text",
    ]


def test_state_that_again_does_not_name_stays_unchanged():
    program = """
        begun = flow.add(post, text=topic)
        with flow.loop(text=begun.ok.url, topic=begun.ok.url, hints=[]) as loop:
            better = flow.add(improve, text=loop.text, hints=loop.hints, topic=loop.topic)
            verdict = flow.add(judge, text=better.ok.text)
            loop.again(text=verdict.poor.text, topic=loop.topic)
        flow.add(post, text=verdict.good.text)
    """
    assert "static post.ok.url improve.topic" in edges_of(program)
    assert document_of(program).defaults == (Default(target("improve.hints"), []),)


def test_loop_in_a_for_each_starts_with_an_element():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers) as paper:
            with flow.loop(text=paper) as loop:
                verdict = flow.add(judge, text=loop.text)
                loop.again(text=verdict.poor.text)
            post_it = flow.add(post, text=verdict.good.text)
        flow.add(write, notes=flow.collect(post_it.ok.url))
    """) == [
        "for_each search.ok.papers judge.text",
        "do_while judge.poor.text judge.text",
        "break judge.good.text post.text",
        "collect post.ok.url write.notes",
    ]


def test_independent_step_in_a_loop_runs_in_each_round():
    assert edges_of("""
        begun = flow.add(post, text=topic)
        with flow.loop(text=begun.ok.url) as loop:
            now = flow.add(tell_time)
            better = flow.add(improve, text=loop.text, hints=[], topic=now.ok.text)
            verdict = flow.add(judge, text=better.ok.text)
            loop.again(text=verdict.poor.text)
        flow.add(post, text=verdict.good.text)
    """)[:2] == ["normal post.ok.url tell-time._after", "do_while judge.poor.text tell-time._after"]


def test_loop_with_a_constant_starts_for_each_element():
    assert edges_of("""
        found = flow.add(search, topic=topic)
        with flow.for_each(found.ok.papers):
            with flow.loop(text="") as loop:
                verdict = flow.add(judge, text=loop.text)
                loop.again(text=verdict.poor.text)
            flow.add(post, text=verdict.good.text)
    """)[:3] == [
        "do_while judge.poor.text judge.text",
        "for_each search.ok.papers judge._after",
        "do_while judge.poor.text judge._after",
    ]


def test_several_variants_may_start_another_round():
    assert edges_of("""
        with flow.loop(text=topic) as loop:
            answer = flow.add(ask, who="0x1", question=loop.text)
            loop.again(text=answer.rejected.note)
            loop.again(text=answer.expired.note)
        flow.add(post, text=answer.approved.text)
    """) == [
        "do_while ask.rejected.note ask.question",
        "do_while ask.expired.note ask.question",
        "break ask.approved.text post.text",
    ]


def test_failure_of_a_step_leaves_the_loop():
    assert edges_of(LOOP + "flow.add(post, text=verdict.failed.reason)")[-1] == (
        "break judge._err_eval.reason post_2.text"
    )
