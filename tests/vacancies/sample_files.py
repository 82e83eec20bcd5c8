"""Valid and hostile files to upload."""

import struct
import zipfile
import zlib
from io import BytesIO
from typing import Any

from PIL import Image

SECRET = b"zyxsecret"
SCRIPT = b"<script>alert('zyxsecret')</script>"


def encoded(
    kind: str, mode: str = "RGB", size: tuple[int, int] = (400, 300), **options: Any
) -> bytes:
    """Return an image of this format."""
    file = BytesIO()
    Image.new(mode, size).save(file, kind, **options)
    return file.getvalue()


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    """Return a PNG of one bit per pixel."""
    row = bytes(1 + (width + 7) // 8)
    packer = zlib.compressobj(1)
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    content = b"\x89PNG\r\n\x1a\n"
    for name, chunk in ((b"IHDR", header), *chunks, (b"IDAT", data), (b"IEND", b"")):
        content += struct.pack(">I", len(chunk)) + name + chunk
        content += struct.pack(">I", zlib.crc32(name + chunk))
    return content


def animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (300, 300), colour) for colour in ("red", "blue")]
    file = BytesIO()
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return file.getvalue()


def wide_webp() -> bytes:
    """Return a WebP of 200 bytes whose header states 16,383 x 16,383 pixels."""
    content = animated("WEBP")
    start = content.index(b"VP8X") + 12
    return content[:start] + (16382).to_bytes(3, "little") * 2 + content[start + 6 :]


def jpeg_of_many_scans() -> bytes:
    content = encoded("JPEG", "L", progressive=True)
    scan = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + scan * 200 + content[-2:]


def make_zip(files: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def ooxml(kind: str, **files: bytes) -> bytes:
    content_types = (
        f'<Override ContentType="application/vnd.openxmlformats-officedocument.{kind}.main+xml"/>'
    )
    return make_zip({"[Content_Types].xml": content_types.encode(), **files})


def legacy_office(stream: str) -> bytes:
    return (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + stream.encode("utf-16-le") + bytes(512)
    )


def open_document(kind: str, **files: bytes) -> bytes:
    return make_zip({"mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(), **files})


DOCX, XLSX = ooxml("wordprocessingml.document"), ooxml("spreadsheetml.sheet")
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
JAR = make_zip({"META-INF/MANIFEST.MF": SECRET})
