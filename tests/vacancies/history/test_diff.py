"""Differences between contents: marked by word, escaped, and bounded in time."""

import time

import pytest

from tests.factories import make_vacancy
from vacancies.history.diff import differences, field_labels, field_values, marked
from vacancies.history.versions import read_content
from vacancies.models import Filter

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


def test_line_is_marked_word_by_word():
    for old, new, shown in (
        ("Care for people", "Cure for people", "<del>Care</del><ins>Cure</ins> for people"),
        ("Nurse", "Nurse in Ghent", "Nurse <ins>in Ghent</ins>"),
        ("Nurse in Ghent", "Nurse", "Nurse <del>in Ghent</del>"),
        ("We care, daily.", "We care daily.", "We care<del>,</del> daily."),
        ("We care daily.", "We care, daily.", "We care<ins>,</ins> daily."),
        ("A nurse in Ghent", "A good nurse in Ghent", "A <ins>good</ins> nurse in Ghent"),
        ("A good nurse in Ghent", "A nurse in Ghent", "A <del>good</del> nurse in Ghent"),
        ("One two three", "Four five six", "<del>One two three</del> <ins>Four five six</ins>"),
        ("Crème brûlée", "Crème fraîche", "Crème <del>brûlée</del><ins>fraîche</ins>"),
        ("a  b", "a b", "<del>a  b</del> <ins>a b</ins>"),  # nothing but space
        ("<b>x & y", "<b>x & z", "&lt;b&gt;x &amp; <del>y</del><ins>z</ins>"),
        ("<script>", "</ins>", "&lt;<del>script</del><ins>/ins</ins>&gt;"),
    ):
        assert marked([old], [new]) == f"<div>{shown}</div>"


def test_long_unchanged_passages_are_omitted():
    old = [f"Line {number}" for number in range(9)]
    new = ["First", *old[:4], "Between", *old[4:-1]]
    lines = [
        "<ins>First</ins>",
        "Line 0",
        "…",
        "Line 3",
        "<ins>Between</ins>",
        "Line 4",
        "…",
        "Line 7",
        "<del>Line 8</del>",
    ]
    assert marked(old, new) == "".join(f"<div>{line}</div>" for line in lines)


def test_unchanged_content_is_no_difference():
    now = read_content(make_vacancy(options={"regions": ["Ghent"]}, recruiters=("Bob",)))
    assert differences(now, now) == []
    new = {"title": "Nurse", "image": "", "attachments": []}
    assert [each.name for each in differences({}, new)] == ["title"]  # no replaced file
    assert (
        differences(
            {},
            {"location": "", "brand": None, "regions": [], "is_hot": False, "is_pay_public": True},
        )
        == []
    )


@pytest.mark.parametrize(
    ("name", "before", "after", "label", "shown"),
    [
        (
            "description",
            "<p>We care</p>",
            "<p>We <b>care</b></p>",
            "Description",
            "<i>Only the formatting changed.</i>",
        ),
        (
            "description",
            "<p>One</p>",
            "<ul><li><p>One</p></li><li><p>Two</p></li></ul>",
            "Description",
            "<div><ins>•</ins> One</div><div><ins>• Two</ins></div>",
        ),
        ("is_hot", False, True, "Featured", "<div><ins>Yes</ins></div>"),
        ("is_hot", True, False, "Featured", "<div><del>Yes</del></div>"),
        ("is_pay_public", True, False, "Show pay", "<div><ins>No</ins></div>"),
        (
            "audience",
            "public",
            "internal",
            "Audience",
            "<div><del>Public sites</del> <ins>Internal only</ins></div>",
        ),
        ("brand", [1, "Acme"], None, "Brand", "<div><del>Acme</del></div>"),
        (
            "brand",
            None,
            [1, "<i>Acme</i>"],
            "Brand",
            "<div><ins>&lt;i&gt;Acme&lt;/i&gt;</ins></div>",
        ),
        (
            "regions",
            [[1, "Ghent"], [2, "Antwerp"]],
            [[2, "Antwerp"], [1, "Ghent"]],
            "Regions",
            "<div><ins>Antwerp</ins></div><div>Ghent</div><div><del>Antwerp</del></div>",
        ),
        ("recruiters", [], [[1, "Bob"]], "Other recruiters", "<div><ins>Bob</ins></div>"),
        (
            "attachments",
            [],
            [{"name": "a.pdf", "file": "", "url": "https://acme.test/a"}],
            "Attachments",
            "<div><ins>a.pdf (https://acme.test/a)</ins></div>",
        ),
        (
            "attachments",
            [],
            [{"name": "a.pdf", "file": "attachments/a.pdf", "url": ""}],
            "Attachments",
            "<div><ins>a.pdf</ins></div>",
        ),
        (
            "attachments",
            [{"name": "a.pdf", "file": "attachments/a.pdf", "url": ""}],
            [{"name": "a.pdf", "file": "attachments/b.pdf", "url": ""}],
            "Attachments",
            "<i>The file was replaced.</i>",
        ),
        ("image", "", "vacancies/a.png", "Image", "<div><ins>Uploaded image</ins></div>"),
        ("image", "vacancies/a.png", "vacancies/b.png", "Image", "<i>The file was replaced.</i>"),
        (
            "publish_from",
            None,
            "2026-03-02T09:30:00+00:00",
            "Publish from",
            "<div><ins>2 Mar 2026, 09:30</ins></div>",
        ),
    ],
)
def test_each_kind_of_field_is_described(name, before, after, label, shown):
    [found] = differences({name: before}, {name: after})
    assert (found.name, found.label) == (name, label)
    # Which of two lines that changed places counts as moved is up to the matcher.
    assert sorted(found.marked.split("</div>")) == sorted(shown.split("</div>"))


def test_described_fields_are_in_the_order_of_the_page():
    vacancy = make_vacancy(
        title="Nurse", description="<p>A</p><p>B</p>", options={"regions": ["Ghent"]}
    )
    found = {each.name: each.marked for each in field_values(read_content(vacancy))}
    assert [name for name in field_labels() if name in found] == list(found)
    expected = {"title": "<div>Nurse</div>", "description": "<p>A</p><p>B</p>"}
    assert expected | {"regions": "<div>Ghent</div>"} == {
        name: text
        for name, text in found.items()
        if name in (*expected, "regions", "profile", "is_hot")
    }
    Filter.objects.filter(keyword="regions").update(label="Provinces")
    assert field_labels()["regions"] == "Provinces"


WORDS = [f"w{number * number % 97}" for number in range(150_000)]
SOME = [word if number % 3 else f"x{number % 89}" for number, word in enumerate(WORDS)]
HUGE = {
    "a paragraph": (f"<p>{' '.join(WORDS)}</p>", f"<p>{' '.join(SOME)}</p>"),
    "a word in it": (
        f"<p>{' '.join(WORDS)}</p>",
        f"<p>{' '.join([*WORDS[:70_000], 'new', *WORDS[70_001:]])}</p>",
    ),
    "a page": (f"<p>{' '.join(WORDS[:1000])}</p>", f"<p>{' '.join(SOME[:1000])}</p>"),
    "paragraphs": tuple(
        "".join(f"<p>{' '.join(words[start : start + 150])}</p>" for start in range(0, 90_000, 150))
        for words in (WORDS, SOME)
    ),
    "equal lines": ("<p>x</p>" * 30_000, "<p>x</p>" * 15_000 + "<p>y</p>" + "<p>x</p>" * 16_000),
    "marked words": (
        "<p>" + "<b>x</b> " * 40_000 + "</p>",
        "<p>" + "<b>x</b> <i>y</i> " * 20_000 + "</p>",
    ),
    "two words": (f"<p>{'a b ' * 400}</p>", f"<p>{'b a a b ' * 200}</p>"),
}


@pytest.mark.slow("compares huge texts")
@pytest.mark.parametrize("kind", HUGE)
def test_huge_texts_are_compared_within_the_limit(kind):
    before, after = HUGE[kind]
    start = time.process_time()
    [found] = differences({"description": before}, {"description": after})
    # Seconds of CPU, on a busy machine too: a comparison in quadratic time takes minutes.
    assert time.process_time() - start < 6
    assert "<ins>" in found.marked
