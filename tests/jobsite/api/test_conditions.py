"""If-None-Match on every path with a tag, answered by the views, the response cache or WhiteNoise."""

from itertools import product

import pytest
from django.core.files.base import ContentFile

from jobsite.api.caching import is_unchanged
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from jobsite.wsgi import _bare
from tests.factories import make_vacancy
from tests.vacancies.sample_files import encoded
from tests.wsgi import ask

pytestmark = pytest.mark.django_db(transaction=True)

API = (
    "/v1/vacancies", "/v1/vacancies/internal", "/v0.1/vacancies", "/v1/vacancies?sort=title",
    "/v1/vacancies/{pk}", "/v1/vacancies/{pk}/form", "/v1/vacancies/{pk}/form/schema", "/v1/filters",
)  # fmt: skip
FILES = ("/openapi.json", "/media/{image}", "/static/forms_structure/form.js")
# With `{tag}` for the opaque part of the tag, quotes included.
SAME = (
    "{tag}", "W/{tag}", "*", " * ", '"other", {tag}', '{tag},"other"', 'W/"other" ,\tW/{tag}',
    ' , {tag} ,, "x"', '"", {tag}', "not a tag, W/{tag}",
)  # fmt: skip
OTHER = ('"other"', 'W/"other"', "", "w/{tag}", "{tag}x", "x{tag}", '"*"', "W/ {tag}", "not a tag")
ASKED = {'"other", {tag}': 304, 'W/"other" ,\tW/{tag}': 304, "*": 304, 'W/"other"': 200}


def test_if_none_match_compares_weakly():
    def unchanged(condition):
        return is_unchanged({"HTTP_IF_NONE_MATCH": condition.replace("{tag}", '"abc"')}, 'W/"abc"')

    found = {condition: unchanged(condition) for condition in (*SAME, *OTHER)}

    assert found == dict.fromkeys(SAME, True) | dict.fromkeys(OTHER, False)
    assert not is_unchanged({}, 'W/"abc"')


@pytest.fixture
def site(at, filters, wsgi):
    """Return the applications by name, and the values for placeholders of paths."""
    vacancy = make_vacancy(is_hot=True, audience="both")
    vacancy.image.save("a.png", ContentFile(encoded("PNG")))
    return {"views": _bare, "cache": ResponseCache(_bare, read_state)}, {
        "pk": str(vacancy.pk),
        "image": vacancy.image.name,
    }


@pytest.mark.slow("asks 19 paths")
def test_if_none_match_is_read_on_every_path(site, settings):
    ways, values = site
    found = {}
    settings.RESPONSE_CACHE_MB = 1
    for way, paths in {"views": API + FILES, "cache": API}.items():
        for path in (path.format(**values) for path in paths):
            tag = ask(ways[way], path)[1]["ETag"]
            for method, condition in product(("GET", "HEAD"), ASKED):
                sent = condition.replace("{tag}", tag.removeprefix("W/"))
                status, headers, body = ask(ways[way], path, method, HTTP_IF_NONE_MATCH=sent)
                found[way, method, path, condition] = int(status[:3])
                if status.startswith("304"):
                    assert (headers["ETag"], body) == (tag, b"")
                    assert headers.get("Time-Zone") == ("UTC" if path.startswith("/v") else None)

    assert found == {key: ASKED[key[-1]] for key in found}
    assert len(ways["cache"].entries) == len(API)  # the others were made for each request


def test_if_modified_since_is_ignored_with_an_etag(site):
    ways, values = site
    for path in (path.format(**values) for path in FILES[1:]):
        modified = ask(ways["views"], path)[1]["Last-Modified"]
        by_date = ask(ways["views"], path, HTTP_IF_MODIFIED_SINCE=modified)[0]
        by_both = ask(ways["views"], path, HTTP_IF_MODIFIED_SINCE=modified, HTTP_IF_NONE_MATCH='"other"')[0]
        assert (by_date[:3], by_both[:3]) == ("304", "200"), path
