import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.bridges.unstract.message import MessageType
from nexus_tools.bridges.unstract.transcript import MAX_KEPT, MAX_LINE_BYTES, MAX_TEXT, Transcript


def line(**fields):
    return json.dumps(fields).encode() + b"\n"


def transcript_of(*chunks):
    transcript = Transcript()
    for chunk in chunks:
        transcript.feed(chunk)
    transcript.close()
    return transcript


def logs_of(transcript):
    return [log.log for log in transcript.logs]


def test_messages_may_arrive_in_any_chunks():
    text = line(type="LOG", log="one") + line(type="LOG", log="two")
    assert logs_of(transcript_of(*(bytes([byte]) for byte in text))) == ["one", "two"]


def test_last_line_needs_no_newline():
    assert logs_of(transcript_of(line(type="LOG", log="one").rstrip())) == ["one"]


def test_lines_may_end_with_crlf():
    text = line(type="LOG", log="one").replace(b"\n", b"\r\n")
    assert logs_of(transcript_of(text, text)) == ["one", "one"]


def test_last_of_several_results_counts():
    results = [line(type="RESULT", result={"output": number}) for number in (1, 2)]
    assert transcript_of(*results).result.output == 2


def test_documents_and_icon_are_kept_by_type():
    transcript = transcript_of(line(type="SPEC", spec={"a": 1}), line(type="ICON", icon="<svg/>"))
    assert transcript.documents == {MessageType.SPEC: {"a": 1}}
    assert transcript.icon == "<svg/>"


def test_other_output_is_kept_as_noise():
    transcript = transcript_of(b"loading\n", line(type="LOG", log="x"), b"\n", b"[1]\n")
    assert transcript.noise == "loading\n[1]\n"


def test_only_the_end_of_noise_is_kept():
    transcript = transcript_of(b"".join(b"line %d\n" % number for number in range(10_000)))
    assert len(transcript.noise) == 4_096
    assert transcript.noise.endswith("line 9999\n")


def test_reason_of_an_unreadable_message_is_kept():
    transcript = transcript_of(b'{"type": "RESULT", "result": {"output": NaN}}\n')
    assert transcript.result is None
    assert "NaN" in transcript.problem


def test_huge_line_is_skipped_and_the_next_one_is_read():
    chunks = [b"x" * 2**20] * 8 + [b"\n", line(type="LOG", log="after")]
    transcript = transcript_of(*chunks)
    assert logs_of(transcript) == ["after"]
    assert str(MAX_LINE_BYTES) in transcript.problem


def test_newest_logs_are_kept():
    transcript = transcript_of(*(line(type="LOG", log=str(n)) for n in range(MAX_KEPT + 5)))
    assert logs_of(transcript) == [str(n) for n in range(5, MAX_KEPT + 5)]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"type": "LOG", "log": "x" * 10_000}, lambda told: told.logs[0].log),
        ({"type": "COST", "cost": 1, "cost_units": "x" * 10_000}, lambda t: t.costs[0].cost_units),
        ({"type": "UPDATE", "message": "x" * 10_000}, lambda told: told.updates[0].message),
        (
            {"type": "SINGLE_STEP_MESSAGE", "message": "x" * 10_000},
            lambda told: told.messages[0].message,
        ),
    ],
)
def test_long_message_texts_are_truncated(fields, text):
    assert text(transcript_of(line(**fields))) == "x" * MAX_TEXT + "…"


def test_failure_is_the_last_logged_error():
    levels = ("ERROR", "FATAL", "WARN")
    transcript = transcript_of(*(line(type="LOG", level=level, log=level) for level in levels))
    assert transcript.failure.log == "FATAL"


def test_messages_are_reported_as_they_arrive():
    told = []
    transcript = Transcript(told.append)
    transcript.feed(line(type="LOG", log="one") + b'{"type": "LOG", "log": "t')
    assert [message.log for message in told] == ["one"]
    transcript.feed(b'wo"}\n')
    assert [message.log for message in told] == ["one", "two"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
_KINDS = st.sampled_from([kind.value for kind in MessageType] + ["OTHER"])
_MESSAGES = st.builds(
    lambda kind, value: line(type=kind, **{kind.lower(): value, "log": value, "message": value}),
    _KINDS,
    _JSON,
)


@given(st.lists(st.binary() | _MESSAGES))
def test_any_output_is_read_without_a_crash(chunks):
    transcript = transcript_of(*chunks)
    assert len(transcript.noise) <= 4_096
