"""The text of DOCX, ODT and TXT files, and hostile ones."""

import subprocess
import sys
from io import BytesIO
from zipfile import ZipFile

import pytest

from applications.submissions import extract

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
ODT = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)


def packed(**parts: str) -> bytes:
    """A ZIP file with these parts; "__" in a name is "/"."""
    file = BytesIO()
    with ZipFile(file, "w", 8) as made:
        for name, text in parts.items():
            made.writestr(f"{name.replace('__', '/')}.xml", text)
    return file.getvalue()


def docx(body: str, **parts: str) -> bytes:
    return packed(
        word__document=f"<w:document {W} {MC}><w:body>{body}</w:body></w:document>", **parts
    )


def test_text_of_docx() -> None:
    content = docx(
        "<w:p><w:pPr><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr><w:r><w:t>Zoë </w:t></w:r><w:r>"
        "<w:t>Maes</w:t></w:r></w:p><w:p><w:r><w:t>2010</w:t><w:tab/><w:t>Nurse</w:t><w:br/><w:t>Ghent</w:t></w:r></w:p>"
        "<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "</w:p>"
        "<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>"
        "<mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>",
        word__header1=f"<w:hdr {W}><w:p><w:r><w:t>0470 12 34 56</w:t></w:r></w:p></w:hdr>",
    )
    assert extract.text_of("docx", content) == "0470 12 34 56\nZoë Maes\n2010\tNurse\nGhent\n\nbox"


def test_text_of_odt() -> None:
    body = (
        "<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<text:h>Zoë<text:s/>Maes</text:h>\n <text:p>2010<text:tab/><text:span>Nurse</text:span>"
        "<text:line-break/>Ghent<office:annotation><text:p>comment</text:p></office:annotation></text:p></office:text>"
    )
    content = packed(content=f"<office:document-content {ODT}>{body}</office:document-content>")
    assert extract.text_of("odt", content) == "Zoë Maes\n2010\tNurse\nGhent"


def test_text_of_txt() -> None:
    assert extract.text_of("txt", "\ufeffZoë\n".encode()) == "Zoë\n"


ATTRIBUTES = " ".join(f"a{number}=''" for number in range(60_000))
BOMB = (
    '<!DOCTYPE a [<!ENTITY x "x">]>'
    + f"<w:document {W}><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:document>"
)


@pytest.mark.parametrize(
    ("kind", "content", "error"),
    {
        "no ZIP": ("docx", b"PK\x03\x04 damaged", extract.ExtractError),
        "no XML": ("docx", docx("<w:p>"), extract.ExtractError),
        "entities": ("docx", packed(word__document=BOMB), extract.ExtractError),
        "outside": (
            "odt",
            packed(content='<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'),
            extract.ExtractError,
        ),
        "deep": ("docx", docx("<w:p>" * 600 + "</w:p>" * 600), extract.TooLongError),
        "long": (
            "docx",
            docx(f"<w:p><w:r><w:t>{'x' * 300_001}</w:t></w:r></w:p>"),
            extract.TooLongError,
        ),
        "attributes": (
            "docx",
            docx(f"<w:p {ATTRIBUTES}/>"),
            extract.TooLongError,
        ),
        "unpacked": ("docx", docx(" " * (20 * 1024 * 1024)), extract.TooLongError),
        "long text": ("txt", b"x" * 300_001, extract.TooLongError),
    }.values(),
)
def test_hostile_documents_are_refused(kind: str, content: bytes, error: type) -> None:
    with pytest.raises(extract.ExtractError) as raised:
        extract.text_of(kind, content)
    assert type(raised.value) is error


def test_number_of_elements_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "ELEMENTS_MAX", 100)
    assert extract.text_of("docx", docx("<w:p/>" * 90)) == ""
    for body in ("<w:p/>" * 100, "<w:p a='' b=''/>" * 40):
        with pytest.raises(extract.TooLongError):
            extract.text_of("docx", docx(body))


def test_module_needs_no_django() -> None:
    code = "import sys; import extract; print('django' in sys.modules)"
    folder = extract.__file__.rpartition("/")[0]
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"
