"""The check of `tests.chaos.mail`: what counts as a mistake."""

from collections import Counter

from tests.chaos.mail import mistakes

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
