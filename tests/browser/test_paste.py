"""A recruiter pastes a text from where she wrote it: the editor keeps what it says and drops how it
looked.

The clipboard holds what those programs put there: the markup of Word, Google Docs, Outlook,
LibreOffice and of a page in a browser, shortened, with their habits left in.
"""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobsite.text.html import sanitise
from tests.browser.admin import serve_static_files
from tests.hostile_html import faults
from tests.tables import TABLES
from vacancies.models import Vacancy

LEFTOVERS = re.compile(
    "style|class|mso|<!--|o:p|<span|<font|<div|<h1|\u00b7|\u00a7|\\bendif\\b", re.IGNORECASE
)

# What Word shows before an item of a list, by its level: bullets come from fonts of symbols.
BULLETS = {1: ("Symbol", "\u00b7"), 2: ('"Courier New"', "o"), 3: ("Wingdings", "\u00a7")}


def word_item(
    text: str, *, level: int = 1, number: str = "", list_: str = "l0", place: str = "Middle"
) -> str:
    """An item of a list as Word writes it: bulleted, or with its `number` written out."""
    font, bullet = BULLETS[level]
    return (
        f"<p class=MsoListParagraphCxSp{place} style='margin-left:{level * 36}.0pt;mso-add-space:\n"
        f"auto;text-indent:-18.0pt;mso-list:{list_} level{level} lfo1'><![if !supportLists]><span\n"
        f"lang=NL style='font-family:{font};mso-fareast-font-family:{font};mso-bidi-font-family:\n{font}'>"
        f"<span style='mso-list:Ignore'>{number or bullet}<span style='font:7.0pt \"Times New "
        "Roman\"'>"
        "&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;\n</span></span></span><![endif]>"
        f"<span lang=NL style='mso-ansi-language:NL'>{text}<o:p></o:p></span></p>\n\n"
    )


def word(body: str) -> str:
    """A document of Word around `body`."""
    return f"""<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"
xmlns:w="urn:schemas-microsoft-com:office:word" xmlns="http://www.w3.org/TR/REC-html40">
<head><meta http-equiv=Content-Type content="text/html; charset=utf-8"><meta name=Generator
content="Microsoft Word 15"><link rel=File-List href="file:///C:/Temp/msohtmlclip1/01/clip_filelist.xml">
<!--[if gte mso 9]><xml><w:WordDocument><w:View>Normal</w:View></w:WordDocument></xml><![endif]-->
<style><!--
 /* Style Definitions */
 p.MsoNormal, li.MsoNormal {{mso-style-unhide:no; margin:0cm; font-family:"Calibri",sans-serif;}}
 @list l0:level1 {{mso-level-number-format:bullet; mso-level-text:\u00b7; font-family:Symbol;}}
--></style>
<!--[if gte mso 10]><style>table.MsoNormalTable {{mso-style-name:"Table Normal";}}</style><![endif]--></head>
<body lang=NL link="#0563C1" style='tab-interval:35.4pt;word-wrap:break-word'><!--StartFragment-->

{body}<!--EndFragment--></body></html>"""


EMPTY = "<p class=MsoNormal><o:p>&nbsp;</o:p></p>\n\n"
WORD = word(
    "<p class=MsoTitle><span lang=NL>Verpleegkundige<o:p></o:p></span></p>\n\n"
    "<h1><span lang=NL style='font-family:\"Calibri Light\"'>Wat je doet<o:p></o:p></span></h1>\n\n"
    "<p class=MsoNormal style='margin-bottom:8.0pt'><span lang=NL style='font-size:11.0pt'>Je "
    "helpt onze <b style='mso-bidi-font-weight:normal'>pati\u00ebnten</b>, <i>elke</i> dag "
    "\u2013 \u201cmet\n"
    "zorg\u201d. <font color=red face=Arial>Snel?</font><o:p></o:p></span></p>\n\n"
    + EMPTY * 3
    + word_item("Zorgen", place="First")
    + word_item("Noteren", level=2)
    + word_item("Op <b>papier</b>", level=3)
    + word_item("Overleggen", level=2)
    + word_item("Rusten", place="Last")
    + EMPTY
    + "<h2><span lang=NL>Wat we bieden<o:p></o:p></span></h2>\n\n"
    + word_item("Loon", number="1.", list_="l1", place="First")
    + word_item("Vakantie", number="2.", list_="l1", place="Last")
    + '<p class=MsoNormal><span lang=NL>Meer op <a href="https://acme.example/jobs"><span\n'
    "style='color:#0563C1;text-decoration:underline'>onze site</span></a>, "
    "<u>nu</u>.<o:p></o:p></span></p>\n"
)

_DOCS = "font-size:11pt;font-family:Arial,sans-serif;color:#000000;background-color:transparent;"
_P = 'dir="ltr" style="line-height:1.38;margin-top:0pt;margin-bottom:0pt;"'


def docs(text: str, *, weight: int = 400, style: str = "normal", line: str = "none") -> str:
    """A run of text as Google Docs writes it."""
    looks = f"{_DOCS}font-weight:{weight};font-style:{style};text-decoration:{line};white-space:pre-wrap;"
    return f'<span style="{looks}">{text}</span>'


def docs_item(text: str, level: int = 1) -> str:
    return (
        f'<li dir="ltr" style="list-style-type:disc;{_DOCS}" aria-level="{level}">'
        f'<p {_P} role="presentation">{docs(text)}</p></li>'
    )


GOOGLE_DOCS = (
    "<meta charset='utf-8'><b style=\"font-weight:normal;\" "
    'id="docs-internal-guid-0a1b2c3d-7fff-4e5f-8a9b-0c1d2e3f4a5b">'
    f"<h1 {_P}>{docs('Nurse')}</h1><h2 {_P}>{docs('What you do')}</h2>"
    f"<p {_P}>{docs('You help ')}{docs('patients', weight=700)}{docs(', ')}{docs('every', style='italic')}"
    f"{docs(' day at ')}"
    '<a href="https://acme.example/jobs" '
    f'style="text-decoration:none;">{docs("Acme", line="underline")}</a>'
    f"{docs('.')}</p><br><br>"
    f'<ul style="margin-top:0;margin-bottom:0;">{docs_item("Care")}'
    f'<ul style="margin-top:0;">{docs_item("Notes", 2)}</ul>{docs_item("Rest")}</ul><br>'
    f'<ol>{docs_item("Pay")}{docs_item("Leave")}</ol></b><br class="Apple-interchange-newline">'
)

# Outlook sends what Word writes; a list that was made while writing a mail is a list already.
OUTLOOK = word(
    "<p class=MsoNormal>Dear colleague,<o:p></o:p></p>\n\n<p "
    "class=MsoNormal><o:p>&nbsp;</o:p></p>\n\n"
    "<p class=MsoNormal>We seek a <b>nurse</b>:<o:p></o:p></p>\n\n"
    "<ul style='margin-top:0cm' type=disc><li class=MsoListParagraph style='mso-list:l0 level1\n"
    "lfo1'>Care<o:p></o:p></li><li class=MsoListParagraph style='mso-list:l0 level1 lfo1'>Rest</li>"
    '</ul>\n\n<p class=MsoNormal><a href="mailto:jobs@acme.example">jobs@acme.example</a><o:p></o:p></p>'
)
# The new Outlook writes blocks without a meaning.
OUTLOOK_WEB = (
    '<html><body><!--StartFragment--><div class="elementToProof" style="font-family: Aptos, '
    "sans-serif; "
    'font-size: 12pt;">We seek a <b>nurse</b>.</div><div class="elementToProof"><br></div>'
    '<div class="elementToProof" style="font-size: 12pt;"><br></div><div style="font-size: '
    '12pt;">Mail us'
    '&nbsp;today.<br>Or call.</div><ul data-editing-info=\'{"orderedStyleType":1}\'><li style="">'
    '<div role="presentation" class="elementToProof">Care</div></li></ul><!--EndFragment--></body></html>'
)
LIBREOFFICE = """<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN"><html><head>
<meta http-equiv="content-type" content="text/html; charset=utf-8"/><title></title>
<meta name="generator" content="LibreOffice 24.2"/><style type="text/css">
@page { size: 21cm 29.7cm } p { line-height: 115%; background: transparent } a:link { color: #000080 }
</style></head><body lang="en-GB" link="#000080" dir="ltr">
<h1 class="western" style="font-weight: bold">Nurse</h1>
<p style="line-height: 100%; margin-bottom: 0cm"><font face="Liberation Serif, serif"><font size="3"
style="font-size: 12pt">You help <b>patients</b>, <i><span style="font-variant: normal">every</span></i>
day.</font></font></p>
<p style="line-height: 100%; margin-bottom: 0cm"><br/>

</p>
<ul><li><p style="line-height: 100%; margin-bottom: 0cm"><font color="#000000">Care</font></p></li>
	<li><p style="line-height: 100%"><a href="https://acme.example/"><u>Rest</u></a></p></li></ul>
</body></html>"""
_COPIED = (
    "box-sizing: border-box; color: rgb(33, 37, 41); font-family: system-ui; letter-spacing: "
    "normal;"
)
WEB_PAGE = f"""<meta charset='utf-8'><h2 style="{_COPIED} font-weight: 600; font-size: 2rem;">What you do</h2>
<p style="{_COPIED} font-weight: 400; font-style: normal;">You help
<strong style="font-weight: bolder;">patients </strong>,
<em style="{_COPIED}">every</em> day.<span> </span><a href="https://acme.example/"
style="color: rgb(13, 110, 253); text-decoration: underline;" class="btn" target="_blank">Read on</a></p>
<div class="spacer" style="height: 1rem"></div><div style="{_COPIED}"><ul style="padding-left: 2rem;">
<li style="{_COPIED}">Care</li><li><i class="icon"></i>Rest</li></ul></div>
<img src="https://acme.example/x.png" onerror="alert(1)"><script>alert(1)</script>
<table><tbody><tr><td style="{_COPIED}">Pay</td><td>a lot</td></tr></tbody></table>"""


@pytest.fixture
def editor(live_server: Any, browser_page: Any, filters: Any, settings: Any) -> Any:
    """The page of a new vacancy."""
    serve_static_files(settings)
    client = Client()
    client.force_login(User.objects.create_superuser("anna"))
    cookie = client.cookies["sessionid"]
    page = browser_page
    page.context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": live_server.url}])
    page.goto(f"{live_server.url}/admin/vacancies/vacancy/add/")
    page.fill("#id_title", "Nurse")
    return page


def paste(page: Any, html: str, text: str = "as plain text") -> str:
    """Paste into the empty description, and return what a save would store."""
    area = page.get_by_role("textbox", name="Description", exact=True)
    area.evaluate("area => area.editor.commands.clearContent(true)")
    area.click()
    area.evaluate(
        """(area, [html, text]) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          if (html) clipboardData.setData("text/html", html);
          const how = { clipboardData, bubbles: true, cancelable: true };
          if (area.dispatchEvent(new ClipboardEvent("paste", how))) throw Error("nobody took the paste");
        }""",
        [html, text],
    )
    return str(sanitise(page.input_value("#id_description")))


# What is pasted and what is stored. Without markup, it is pasted as text.
CASES: dict[str, tuple[str, str]] = {
    "word": (
        WORD,
        "<h2>Verpleegkundige</h2><h2>Wat je doet</h2>"
        "<p>Je helpt onze <strong>patiënten</strong>, <em>elke</em> dag – “met zorg”. Snel?</p>"
        "<ul><li><p>Zorgen</p><ul><li><p>Noteren</p><ul><li><p>Op "
        "<strong>papier</strong></p></li></ul>"
        "</li><li><p>Overleggen</p></li></ul></li><li><p>Rusten</p></li></ul>"
        "<h2>Wat we bieden</h2><ol><li><p>Loon</p></li><li><p>Vakantie</p></li></ol>"
        '<p>Meer op <a href="https://acme.example/jobs">onze site</a>, <u>nu</u>.</p>',
    ),
    "google docs": (
        GOOGLE_DOCS,
        "<h2>Nurse</h2><h2>What you do</h2>"
        "<p>You help <strong>patients</strong>, <em>every</em> day at "
        '<a href="https://acme.example/jobs">Acme</a>.</p>'
        "<ul><li><p>Care</p><ul><li><p>Notes</p></li></ul></li><li><p>Rest</p></li></ul>"
        "<ol><li><p>Pay</p></li><li><p>Leave</p></li></ol>",
    ),
    "outlook": (
        OUTLOOK,
        "<p>Dear colleague,</p><p>We seek a <strong>nurse</strong>:</p>"
        "<ul><li><p>Care</p></li><li><p>Rest</p></li></ul>"
        '<p><a href="mailto:jobs@acme.example">jobs@acme.example</a></p>',
    ),
    "new outlook": (
        OUTLOOK_WEB,
        "<p>We seek a <strong>nurse</strong>.</p><p>Mail us&nbsp;today.<br>Or call.</p>"
        "<ul><li><p>Care</p></li></ul>",
    ),
    "libreoffice": (
        LIBREOFFICE,
        "<h2>Nurse</h2><p>You help <strong>patients</strong>, <em>every</em> day.</p>"
        '<ul><li><p>Care</p></li><li><p><a href="https://acme.example/">Rest</a></p></li></ul>',
    ),
    "web page": (
        WEB_PAGE,
        "<h2>What you do</h2><p>You help <strong>patients </strong>, <em>every</em> day. "
        '<a href="https://acme.example/">Read '
        "on</a></p><ul><li><p>Care</p></li><li><p>Rest</p></li></ul>"
        "<ul><li>Pay: a lot</li></ul>",
    ),
    "list starts anew": (
        # two lists in a row, of which one starts anew; the second goes on below a number of two
        # parts
        word(
            "".join(
                [
                    word_item("a", number="1."),
                    word_item("b", number="1.", list_="l2"),
                    word_item("c", number="1.1.", list_="l2", level=2),
                ]
            )
        ),
        "<ol><li><p>a</p></li></ol><ol><li><p>b</p><ol><li><p>c</p></li></ol></li></ol>",
    ),
    "list starts deep": (
        # letters are numbers, an o is a bullet, and a list may start deep
        word(
            "".join(
                [word_item("a", level=2), word_item("b", number="a)"), word_item("c", number="iv.")]
            )
        ),
        "<ul><li><p>a</p></li></ul><ol><li><p>b</p></li><li><p>c</p></li></ol>",
    ),
    "text between lists": (
        # what stands between ends a list; what is empty does not
        word(
            "".join(
                [word_item("a"), EMPTY, word_item("b"), "<p class=MsoNormal>x</p>", word_item("c")]
            )
        ),
        "<ul><li><p>a</p></li><li><p>b</p></li></ul><p>x</p><ul><li><p>c</p></li></ul>",
    ),
    "mixed lists": (
        # bulleted below numbered, and back up by two levels at once; an item without words is none
        word(
            "".join(
                [
                    word_item("a", number="1."),
                    word_item("b", level=2),
                    word_item("c", level=3),
                    word_item("", level=3),
                    word_item("d", number="2."),
                ]
            )
        ),
        "<ol><li><p>a</p><ul><li><p>b</p><ul><li><p>c</p></li></ul></li></ul></li><li><p>d</p></li></ol>",
    ),
    "breaks within a paragraph": (
        "one<br>two<p>three<br>four</p>",
        "<p>one<br>two</p><p>three<br>four</p>",
    ),
    "text copied in the editor": (
        '<ul data-pm-slice="3 3 []"><li><p>a</p></li><li><p><strong>b</strong></p></li></ul>',
        "<ul><li><p>a</p></li><li><p><strong>b</strong></p></li></ul>",
    ),
}
# Browsers rewrite the comments, and some take the mark off the bullet.
CASES |= {
    f"bullet after {comment}": (
        '<p class="MsoListParagraph" style="mso-list:l0 level1 '
        f'lfo1">{comment}<span>·<span>&nbsp;&nbsp;'
        "</span></span><!--[endif]-->Care</p>",
        "<ul><li><p>Care</p></li></ul>",
    )
    for comment in ("<!--[if !supportLists]-->", "<![if !supportLists]>")
}


def test_pasted_text_keeps_what_it_says(editor: Any) -> None:
    wrong = {}
    for name, (source, stored) in CASES.items():
        html = paste(editor, source)
        if html != stored or faults(html) or LEFTOVERS.search(html):
            wrong[name] = {"received": html, "expected": stored}
    html = paste(editor, "", "one\n\ntwo <b>")
    if html != "<p>one</p><p>two &lt;b&gt;</p>":
        wrong["text without markup"] = {"received": html}
    assert wrong == {}


def test_pasted_tables_become_lists_when_they_are_saved(editor: Any) -> None:
    """The editor drops nothing of a table that the list depends on, and a note asks to check it."""
    stored = {name: paste(editor, html) for name, (html, _) in TABLES.items()}
    # The editor makes a paragraph of each item of the lists in a cell, and of a text alone.
    unwrapped = {name: re.sub("(<li>)<p>(.*?)</p>", r"\1\2", html) for name, html in stored.items()}
    assert unwrapped == {
        name: expected.replace("<b>", "<strong>").replace("</b>", "</strong>")
        for name, (_, expected) in TABLES.items()
    }

    cells = "".join(
        f"<td style='border:solid'><p class=MsoNormal>{text}<o:p></o:p></p></td>" for text in "ab"
    )
    paste(editor, word(f"<table class=MsoTableGrid border=1><tr>{cells}</tr></table>{EMPTY}"))
    editor.click("[name=_continue]")
    editor.wait_for_url("**/change/")
    editor.get_by_text("A table was converted to a list. Check the text.").wait_for()
    assert Vacancy.objects.get().description == "<ul><li>a: b</li></ul>"
