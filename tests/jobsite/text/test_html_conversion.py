"""Conversion of HTML: no visible text is lost, and alterations are reported."""

from time import thread_time

import pytest

from jobsite.text.html import sanitise
from jobsite.text.html_conversion import convert, is_escaped, unescaped, without_entities
from tests.hostile_html import PAYLOADS, faults

LINK = '<p><a href="{}">{}</a></p>'


def shown(html):
    """Return the converted text and (code, message) of each alteration."""
    clean, alterations = convert(html)
    return str(clean), [(each.code, each.message) for each in alterations]


def test_different_notation_is_not_an_alteration():
    for html, clean in (
        ("It&#39;s R&D<br/>done", "It's R&amp;D<br>done"),
        ("<P>one<p>two", "<p>one</p><p>two</p>"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
        ("<p>a</p>\r\n<!-- pasted --><p>b</p>", "<p>a</p>\n<p>b</p>"),
        ("<p> </p><p><br></p>", ""),
        (
            '<a href="https://x.example/?a=1&b=2">x</a>',
            '<a href="https://x.example/?a=1&amp;b=2">x</a>',
        ),
    ):
        assert shown(html) == (clean, [])

    html = (
        '<div><p style="x" onclick="y">a<img src=1><img src=2></p><script>s</script></div><a '
        'href="/j">j</a>'
    )

    assert shown(html) == (
        "<p>a</p> <a>j</a>",
        [
            ("markup_removed", "removed 2 <img>, 1 <script>"),
            ("markup_unwrapped", "removed the tags of 1 <div>; their content was kept"),
            ("link_removed", "removed the URL of a link: '/j'"),
            ("attributes_removed", "removed attributes: 1 onclick, 1 style"),
        ],
    )


def test_plain_text_keeps_its_lines_and_addresses():
    kept = "converted plain text: kept {} line breaks"
    for text, clean, *alterations in (
        (
            "Dear <jean@exemple.fr>,\r\nR&D pays < 3,000.\r\n \r\n- List<String>\n",
            (
                "<p>Dear &lt;jean@exemple.fr&gt;,<br>R&amp;D pays &lt; 3,000.</p><p>- "
                "List&lt;String&gt;</p>"
            ),
            ("plain_text", kept.format(3)),
        ),
        ("R&amp;D\rYou", "<p>R&amp;D<br>You</p>", ("plain_text", kept.format(1))),
        ("It's <= 3\n", "It's &lt;= 3\n"),
        ("<p>Ask\n<jean@exemple.fr></p>", "<p>Ask\n&lt;jean@exemple.fr&gt;</p>"),
        (
            "a <https://x.example/?a=1&b> <b>c</b>",
            "a &lt;https://x.example/?a=1&amp;b&gt; <b>c</b>",
        ),
        (
            "<p>Dear <your.name x=1>,</p>",
            "<p>Dear ,</p>",
            ("markup_unwrapped", "removed the tags of 1 <your.name>; their content was kept"),
        ),
        (
            "<b>a</b>\nb",
            "<b>a</b>\nb",
            ("line_breaks", "has tags but no paragraphs: 1 line breaks are shown as spaces"),
        ),
    ):
        assert shown(text) == (clean, alterations)
        if "line_breaks" not in dict(alterations):
            assert shown(clean) == (clean, [])


def test_videos_become_links_and_tables_lists():
    for html, clean, tag, url in (
        (
            '<p>See <iframe src="//video.example/1" title="Our team"><p>x</p></iframe>.</p>',
            '<p>See  <a href="https://video.example/1">Our team</a> .</p>',
            *("iframe", "https://video.example/1"),
        ),
        (
            '<video controls><source src="{}">no video</video>',
            LINK,
            "video",
            "https://v.example/a.mp4",
        ),
        ('<embed src="{}">', LINK, "embed", "http://v.example/a"),
    ):
        message = f"replaced 1 <{tag}> by a link to {url}"
        assert shown(html.format(url)) == (clean.format(url, url), [("media_converted", message)])
    removed = ("<p>a</p>", [("markup_removed", "removed 1 <iframe>")])
    for src in ("javascript:pwned()", "data:text/html,x", "/local", ""):
        assert shown(f'<p>a<iframe src="{src}"></iframe></p>') == removed

    html = (
        "<table><caption>Pay</caption><thead><tr><th>Grade<th>Euro</thead>"
        "<tr><td>A<td><b>3,000</b><tr><td>B<td><ul><li>x</ul><tr><td><table><tr><td>in<td>ner</table></table>end"
    )

    assert shown(html) == (
        "<p>Pay</p><ul><li>Grade: A; Euro: <b>3,000</b></li><li>Grade: B; "
        "Euro:<ul><li>x</li></ul></li>"
        "<li>Grade:<ul><li>in: ner</li></ul></li></ul>end",
        [("table_converted", "replaced 2 <table> by a list, one item for each row")],
    )


def test_escaped_html_is_unescaped_and_hostile_texts_are_clean():
    texts = {
        "&lt;p&gt;Hi &lt;b&gt;you&lt;/b&gt;&lt;/p&gt;": "<p>Hi <b>you</b></p>",
        "one&lt;br&gt;two": "one<br>two",
        "&amp;lt;p&amp;gt;R&amp;amp;amp;D&amp;lt;/p&amp;gt;": "<p>R&amp;D</p>",
        "<p>x</p>&lt;div class=&quot;a&quot;&gt;y&lt;/div&gt;": '<p>x</p><div class="a">y</div>',
    }
    assert {html: unescaped(html) for html in texts if is_escaped(html)} == texts
    # Texts that only mention a tag.
    for html in (
        "R&amp;D",
        "<p>the &lt;video&gt; element</p>",
        "5 &lt; 6 &gt; 3",
        "a &lt;b",
        "",
        "<p>&nbsp;</p>",
    ):
        assert (is_escaped(html), unescaped(html)) == (False, html)

    for name, html in PAYLOADS.items():
        clean = str(convert(html)[0])
        assert (name, not faults(clean), str(sanitise(clean))) == (name, True, clean)


@pytest.mark.parametrize(
    "part", ["<!--", "<!", "<![if", "<a href='", "<iframe>", "<table><td>", "&lt;p&gt;"]
)
def test_conversion_takes_linear_time(part):
    """A parser that is quadratic in one of these takes minutes of CPU time, whatever else runs."""
    html = f"<video>{part * (400 if 'table' in part else 20_000)}"
    begun = thread_time()

    convert(html)
    is_escaped(html)

    assert thread_time() - begun < 20


def test_entities_of_one_line_are_converted_and_never_to_tags():
    converted = {
        "R&amp;D &#38; Q&#x26;A": "R&D & Q&A",
        "R&amp;amp;D": "R&D",
        "&amp;lt;b&amp;gt;": "&lt;b&gt;",
        "caf&eacute;&nbsp;1&shy;&#x202E;": "café 1",
        "3 &lt; 4&#10;&#9;": "3 < 4  ",
        "<b>&AMP;</b>": "<b>&</b>",
        "&#128;": "€",
    }
    kept = (
        "AT&T",
        "R&D;",
        "&copy 2026",
        "&notit;",
        "&unknown;",
        "&#0;",
        "&#7;",
        "&#xD800;",
        "&#1114112;",
        "&#x81;",
        "&lt;script&gt;",
        "&lt;img src=x",
        "<b>x</b>&lt;i&gt;",
    )
    assert {text: without_entities(text) for text in (*converted, *kept)} == converted | {
        text: text for text in kept
    }
