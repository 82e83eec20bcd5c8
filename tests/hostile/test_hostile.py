"""The corpus, the twins and some of the product against one gunicorn; the whole of it is
`python -m tests.hostile`."""

import pytest
from django.db import connection

from tests.hostile import site as sites
from tests.hostile.__main__ import Gunicorn
from tests.hostile.corpus import corpus, twins
from tests.hostile.judge import Door, compare, fire
from tests.hostile.product import fire_product

EACH = 40  # of the lines that cost a page of the workplace, one in so many
SLOW = ("many ", "20 MB", "25,000", "1 MB", "base64, blanks", "waits")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_hostile_requests_are_answered_as_they_may(settings, tmp_path):
    settings.SECRET_KEY = sites.ENVIRON["SECRET_KEY"]  # sessions are good for whoever has the key
    site = sites.make()
    server = Gunicorn(tmp_path / "gunicorn", {"DATABASE_URL": url()}, workers=1)
    server.start()
    try:
        door = Door(server.port)
        lines = corpus(site)
        quick = [line for line in lines if not any(word in line.name for word in SLOW)]
        plain = [line for line in quick if line.group != "workplace"]
        inside = [line for line in lines if line.group == "workplace"][::EACH]
        tallies = [
            fire([line for n, line in enumerate(plain) if n % 4 == 0 or " none " in line.name], site, door),
            fire(inside, site, door),
            compare(list(twins(site))[::5], site, door),
            fire_product(300, 7, site, door),
        ]
    finally:
        server.stop()

    assert [failed for tally in tallies for failed in tally.failed] == []
    assert sum(tally.requests for tally in tallies) > 900


def url() -> str:
    """The address of the test database, for another process."""
    if connection.vendor == "sqlite":
        return f"sqlite:///{connection.settings_dict['NAME']}"
    values = connection.settings_dict
    return "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**values)
