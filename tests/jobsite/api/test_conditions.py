"""If-None-Match and If-Modified-Since. tests/jobsite/api/test_caching.py requests each path."""

import pytest
from django.core.files.base import ContentFile

from jobsite.api.caching import is_unchanged
from jobsite.wsgi import _bare
from tests.factories import make_vacancy
from tests.vacancies.sample_files import encoded
from tests.wsgi import ask

pytestmark = pytest.mark.django_db(transaction=True)

# With `{tag}` for the opaque part of the tag, quotes included.
SAME = (
    "{tag}",
    "W/{tag}",
    "*",
    " * ",
    '"other", {tag}',
    '{tag},"other"',
    'W/"other" ,\tW/{tag}',
    ' , {tag} ,, "x"',
    '"", {tag}',
    "not a tag, W/{tag}",
)
OTHER = ('"other"', 'W/"other"', "", "w/{tag}", "{tag}x", "x{tag}", '"*"', "W/ {tag}", "not a tag")


def test_if_none_match_compares_weakly():
    def unchanged(condition):
        return is_unchanged({"HTTP_IF_NONE_MATCH": condition.replace("{tag}", '"abc"')}, 'W/"abc"')

    found = {condition: unchanged(condition) for condition in (*SAME, *OTHER)}

    assert found == dict.fromkeys(SAME, True) | dict.fromkeys(OTHER, False)
    assert not is_unchanged({}, 'W/"abc"')


def test_files_are_compared_by_tag_before_date(filters, wsgi):
    vacancy = make_vacancy()
    vacancy.image.save("a.png", ContentFile(encoded("PNG")))
    for path in (f"/media/{vacancy.image.name}", "/static/forms_structure/form.js"):
        headers = ask(_bare, path)[1]
        conditions = {
            "304 by date": {"HTTP_IF_MODIFIED_SINCE": headers["Last-Modified"]},
            "304 by tag": {"HTTP_IF_NONE_MATCH": f'"other", {headers["ETag"]}'},
            "200": {
                "HTTP_IF_MODIFIED_SINCE": headers["Last-Modified"],
                "HTTP_IF_NONE_MATCH": '"other"',
            },
        }
        for expected, sent in conditions.items():
            assert ask(_bare, path, **sent)[0][:3] == expected[:3], (path, expected)
