"""The corpus: hostile requests, each with the statuses that are right for it.

A request is the bytes that go over the wire, because HTTP clients would not send half of these.
What holds for every response (no 5xx, problem documents below /v1 and /v0.1, nothing repeated,
nothing leaked) is in tests/hostile/checker.py.
"""

from tests.hostile.content import Content
from tests.hostile.corpus import addresses, admin, bodies, framing, headers, submissions
from tests.hostile.corpus.case import Case


def corpus(content: Content) -> list[Case]:
    """Every case. The baselines come before the cases that are compared with them."""
    cases = [*headers.content_types(), *headers.cookies(), *headers.credentials(content)]
    cases += [*headers.environment(), *headers.hosts(), *framing.methods(), *headers.accepts()]
    cases += [*headers.conditions(), *framing.sizes(), *framing.framing(content)]
    cases += [*addresses.paths(content), *addresses.ids(), *addresses.parameters()]
    cases += [*bodies.bodies(), *bodies.forms(content), *submissions.submissions(content)]
    return [*cases, *admin.admin(content)]
