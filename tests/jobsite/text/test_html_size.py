"""Long and deep markup: a parser takes quadratic time for it, so it is
refused, and never parsed.
"""

import pytest
from django.core.exceptions import ValidationError

from forms_structure.structure import StructureError, clean
from jobsite.text import html
from jobsite.text.html import DEPTH_MAX, LENGTH_MAX, UNNESTED_MAX, is_bounded, sanitise
from jobsite.text.html_conversion import convert
from vacancies.models import Vacancy

MANY = UNNESTED_MAX
BOLD = "".join(f'<b class="{number}">' for number in range(DEPTH_MAX - 5))


@pytest.mark.parametrize(
    "text",
    [
        "<ul><li>x" * 12_500,
        "<div>" * MANY * 2,
        "<" * MANY * 2,
        "<b>x</i>" * MANY,
        # a parser ends the elements of these in another place, and opens the bold ones again in
        # each
        f"<p>{BOLD}" + "<p>x" * MANY + "</b>" * (DEPTH_MAX - 5),
        f"<ul><li>{BOLD}" + "<li>x" * MANY,
        f"<table>{BOLD}" + "x<tr></tr>" * MANY + "</b>" * (DEPTH_MAX - 5),
        f"<table><tr><td></td></tr>{BOLD}" + "<table>x</table>" * MANY,
        f"<h2>{BOLD}" + "<h3>x</h3>" * MANY,
        # not tags for a parser
        '<ul title="</ul>">' * MANY,
        "<ul><!--</ul>-->" * MANY,
        "<ul><title></ul></title>" * MANY,
    ],
)
def test_markup_that_takes_quadratic_time_is_not_parsed(text, monkeypatch):
    parsed = []

    class Cleaner:
        def clean(self, given):
            parsed.append(given)
            return given

    monkeypatch.setattr(html, "_CLEANER", Cleaner())
    sanitise(text)

    assert not is_bounded(text)
    assert {each.count("<") for each in parsed} == {0}
    with pytest.raises(ValidationError, match="nested"):
        Vacancy._meta.get_field("description").clean(text[:LENGTH_MAX], None)


@pytest.mark.parametrize(
    "text",
    [
        (
            "<p>a <strong>b</strong><br>c</p><ul><li>d</li><li><p>e</p></li></ul><h2>f</h2><a "
            'href="x">g</a>'
        )
        * MANY,
        "<p>a<p>b<ul><li>c<li>d<ul><li>e</ul></ul>" * MANY,
        "<table><tbody><tr><td colspan=2>a</td><th>b</th></tr></tbody></table>" * MANY,
        "<div>" * (DEPTH_MAX - 1) + "<p>a</p>" * MANY + "</div>" * (DEPTH_MAX - 1),
        "<b>x</i>" * (MANY // 2),
    ],
)
def test_usual_markup_may_be_long(text):
    assert is_bounded(text)


def test_text_of_refused_markup_is_kept_where_it_is_not_refused():
    text = "<ul><li>a &amp; b" * MANY

    assert sanitise(text).split() == ["a", "&amp;", "b"] * MANY
    assert [each.code for each in convert(text)[1]] == ["markup_removed"]


def test_limits_are_named():
    field = Vacancy._meta.get_field("description")
    with pytest.raises(ValidationError, match=f"100001 characters .* At most {LENGTH_MAX} "):
        field.clean("x" * (LENGTH_MAX + 1), None)
    section = {"title": "", "description": "<ul><li>x" * MANY, "fields": []}
    with pytest.raises(StructureError) as caught:
        clean([section])
    assert list(caught.value.faults) == ["sections.0.description"]
