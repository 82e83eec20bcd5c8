"""The checks of `tests.chaos.mail` and `tests.chaos.stage_mail`: what counts as a mistake."""

from collections import Counter

from tests.chaos.interview_mail import calendar_mistakes
from tests.chaos.mail import mistakes
from tests.chaos.stage_mail import left_over

UNKNOWN = "The dispatcher was stopped: it may have been delivered."


def test_mistakes_are_named():
    cases = (
        (("a@b.org", "sent", ""), 1, []),
        (("a@b.org", "sent", ""), 2, ["a@b.org was sent 2 times"]),
        (("a@b.org", "sent", ""), 0, ["a@b.org is shown as sent, and was not"]),
        (("a@b.org", "failed", UNKNOWN), 1, []),
        (("a@b.org", "failed", UNKNOWN), 0, []),
        (("550-a@b.org", "failed", "550 no"), 0, []),
        (
            ("550-a@b.org", "failed", "550 no"),
            1,
            ["550-a@b.org is shown as failed, and was sent: 550 no"],
        ),
        (("a@b.org", "failed", "550 no"), 0, ["a@b.org failed without a fault: 550 no"]),
        (("a@b.org", "queued", ""), 0, ["a@b.org is queued"]),
    )
    found = [(row, count, mistakes([row], Counter({row[0]: count}))) for row, count, _ in cases]
    assert found == list(cases)


def test_emails_of_undone_moves_are_named():
    """By state and attempts at the end and just after the undo; None: no email."""
    assert [left_over(*pair) for pair in ((None, None), (("sent", 1), ("sending", 1)))] == ["", ""]
    assert "waits" in left_over(None, ("queued", 0))
    assert "was written" in left_over(("sent", 1), None)
    assert "was tried again" in left_over(("sent", 2), ("sending", 1))


def test_emails_about_interviews_that_mislead_are_named():
    """What arrived, what is stored at the end, and the sequence of who takes part."""
    key = ("mia@example.org", "1@localhost")
    first, moved, cancelled = ("REQUEST", 0), ("REQUEST", 1), ("CANCEL", 1)
    cases = (
        ([first, moved], [], 1, ""),
        ([first, cancelled], [], None, ""),
        ([], [(first, "failed", UNKNOWN)], 0, ""),
        ([first, first], [], 0, "arrived 2 times"),
        ([moved, first], [], 1, "an old time followed"),
        ([cancelled, first], [], None, "invited after"),
        ([first], [], None, "the last email is"),
        ([], [(first, "failed", UNKNOWN)], None, "the last email is"),
        ([first], [], 1, "the last email is"),
        ([], [(first, "sent", "")], 0, "shown as sent"),
        ([first], [(first, "queued", "")], 0, "is queued"),
    )
    for arrived, stored, sequence, text in cases:
        rows = [(key, *row) for row in stored]
        wanted = {} if sequence is None else {key: sequence}
        found = calendar_mistakes({key: arrived}, rows, wanted)
        assert (text in "".join(found)) if text else not found, (arrived, stored, sequence, found)
