"""The checks of `tests.chaos.mail` and `tests.chaos.stage_mail`: what counts as a mistake."""

from collections import Counter

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
        (("550-a@b.org", "failed", "550 no"), 1, ["550-a@b.org is shown as failed, and was sent: 550 no"]),
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
