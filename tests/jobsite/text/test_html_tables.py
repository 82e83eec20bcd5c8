"""Tables become lists, and no text is lost. `tests/browser/test_paste.py` pastes the same tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsite.text.html import sanitise, visible_text
from tests.tables import TABLES

WORDS = st.sampled_from(["care", "a b", "", "x &amp; y", "Pay:"])


@pytest.mark.parametrize("name", TABLES)
def test_table_becomes_a_list(name):
    html, expected = TABLES[name]

    assert sanitise(html) == expected
    assert sanitise(str(expected)) == expected


def cells(draw, depth):
    name = draw(st.sampled_from(["td", "th"]))
    spans = draw(st.sampled_from(["", " colspan=2", " rowspan=2", " rowspan=70000", " colspan=x"]))
    inner = draw(
        st.sampled_from(
            ["{}", "<p>{}</p>", "<ul><li>{}</li></ul>", "<h2>{}</h2>", "<b><p>{}</p></b>"]
        )
    )
    word = f"w{draw(st.integers(0, 10**6))}"
    more = table(draw, depth - 1) if depth and draw(st.booleans()) else ""
    return f"<{name}{spans}>{inner.format(word)}{more}</{name}>"


def table(draw, depth):
    rows = draw(st.integers(1, 3))
    row = "".join(
        "".join(["<tr>", *(cells(draw, depth) for _ in range(draw(st.integers(0, 3)))), "</tr>"])
        for _ in range(rows)
    )
    return draw(st.sampled_from(["<table>{}</table>", "<table><thead>{}</thead></table>"])).format(
        row
    )


@pytest.mark.slow("many generated tables")
@given(st.data())
def test_no_word_of_a_table_is_lost(data):
    html = f"<p>before</p>{table(data.draw, 2)}after"

    clean = sanitise(html)

    words = set(visible_text(html.replace("<", " <")).split())
    shown = set(visible_text(clean).replace(":", " ").replace(";", " ").split())
    assert {word for word in words if word.isalnum()} <= shown
    assert "<table" not in clean
    assert sanitise(str(clean)) == clean


def test_spans_and_headings_do_not_multiply_a_text():
    long = "x" * 1000
    spans = f"<table><tr><td rowspan=999>{long}<td>a{'<tr><td>b' * 999}</table>"
    heads = f"<table><tr><th>{long}<th>b{'<tr><td>c<td>d' * 999}</table>"

    assert sanitise(spans).count(long) == sanitise(heads).count(long) == 1
