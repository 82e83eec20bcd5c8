"""Access to uploaded files, for every viewer and every state of the
vacancy, and their responses.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import BytesIO
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from applications.tokens import issue
from tests.factories import make_brand, make_insider, make_recruiter, make_vacancy
from tests.vacancies.sample_files import SVG, encoded
from vacancies.access.previews import token_for
from vacancies.media.serving import TYPES
from vacancies.models import Attachment, Recruiter, Vacancy
from vacancies.operations import publication
from vacancies.uploads.image_copies import make_copy, picture
from vacancies.uploads.validators import ENDINGS, IMAGE_ENDINGS

pytestmark = pytest.mark.django_db
PDF = b"%PDF-1.7 " + bytes(range(256)) * 4
DAY = timedelta(days=1)
OUTSIDE, INSIDE = "203.0.113.9", "10.0.0.9"
ABSENT = "vacancies/00000000000000000000000000000000.png"

# The values of a vacancy by state.
STATES: dict[str, Any] = {
    "published": dict,
    "draft": lambda: {"status": "draft"},
    "scheduled": lambda: {"publish_from": timezone.now() + DAY},
    "expired": lambda: {
        "publish_from": timezone.now() - 2 * DAY,
        "publish_until": timezone.now() - DAY,
    },
    "unpublished": lambda: {"status": "unpublished"},
    "archived": lambda: {"status": "archived"},
    "internal": lambda: {"audience": "internal"},
    "internal draft": lambda: {"audience": "internal", "status": "draft"},
    "deleted": dict,
    "replaced": dict,
}
GONE = ("deleted", "replaced")
CONDITIONS: tuple[dict[str, Any], ...] = (
    {},
    {"HTTP_IF_NONE_MATCH": "*"},
    {"HTTP_RANGE": "bytes=0-9"},
)


def with_files(**values: Any) -> Vacancy:
    vacancy = make_vacancy(**values)
    vacancy.image.save("a.png", ContentFile(encoded("PNG")))
    attachment = Attachment(vacancy=vacancy, name="Profiel é.pdf")
    attachment.file.save("a.pdf", ContentFile(PDF))
    return vacancy


def files_of(vacancy: Vacancy) -> list[str]:
    return [vacancy.image.name, *(each.file.name for each in vacancy.attachments.all())]


@pytest.fixture
def world(settings: Any) -> SimpleNamespace:
    """An account of each kind, with protected internal vacancies."""
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = "authenticated", ["10.0.0.0/8"]
    own, other = make_brand("Own"), make_brand("Other")
    rights = Permission.objects.filter(
        codename__in=("view_vacancy", "change_vacancy", "view_recruiter")
    )
    accounts = {"applicant": User.objects.create_user("applicant"), "insider": make_insider()}
    for name, brand in (("recruiter", own), ("recruiter of another brand", other)):
        accounts[name] = User.objects.create_user(name, is_staff=True)
        accounts[name].user_permissions.set(rights)
        brand.members.add(accounts[name])
    accounts["staff without rights"] = User.objects.create_user("guest", is_staff=True)
    accounts["recruiter who left"] = User.objects.create_user(
        "left", is_staff=True, is_active=False
    )
    accounts["superuser"] = User.objects.create_superuser("root")
    return SimpleNamespace(brand=own, accounts=accounts)


def client_of(world: SimpleNamespace, viewer: str) -> Client:
    client = Client(REMOTE_ADDR=OUTSIDE)
    if viewer in world.accounts:
        client.force_login(world.accounts[viewer])
    return client


def body(response: Any) -> bytes:
    """Return the whole body and close the file."""
    return b"".join(response) if response.streaming else response.content


def status(client: Client, address: str, **extra: Any) -> int:
    response = client.get(address, **extra)
    body(response)
    return response.status_code


def reported(response: Any, name: str) -> tuple[Any, ...]:
    """Return what a client can observe in a response for the file `name`."""
    text = (
        body(response).replace(name.encode(), b"NAME").replace(name.split("/")[1].encode(), b"NAME")
    )
    return response.status_code, text, dict(response.headers), sorted(response.cookies)


def may(viewer: str, state: str) -> bool:
    """Return the viewers that see the files of a vacancy of the brand of `recruiter`."""
    if state in GONE:
        return False
    if state == "published" or viewer in ("recruiter", "superuser"):
        return True
    insiders = ("insider", "recruiter of another brand", "staff without rights")
    return state == "internal" and viewer in insiders  # all of the staff, as the API has it


VIEWERS = (
    "anonymous",
    "applicant",
    "insider",
    "recruiter of another brand",
    "recruiter",
    "staff without rights",
    "recruiter who left",
    "superuser",
)


@pytest.mark.slow("every state and viewer")
def test_files_are_visible_to_viewers_of_the_vacancy(world: SimpleNamespace) -> None:
    clients = {viewer: client_of(world, viewer) for viewer in VIEWERS}
    for state, values in STATES.items():
        vacancy = with_files(brand=world.brand, **values())
        names = files_of(vacancy)
        if state == "deleted":
            vacancy.delete()
        if state == "replaced":
            vacancy.image.save("b.png", ContentFile(encoded("PNG")))
            vacancy.attachments.get().file.save("b.pdf", ContentFile(PDF))

        for (viewer, client), name in product(clients.items(), names):
            absent, case = name.replace(Path(name).stem, "0" * 32), (state, viewer, name)
            if may(viewer, state):
                response = client.get(f"/media/{name}")
                assert body(response)[:4] in (b"\x89PNG", b"%PDF"), case
                cached = "public, max-age=60" if state == "published" else "private, no-store"
                assert response["Cache-Control"] == cached, case
                assert ("Cookie" in response.get("Vary", "")) == (state != "published"), case
                continue
            for extra in CONDITIONS if viewer == "anonymous" else CONDITIONS[:1]:
                hidden, never = (client.get(f"/media/{each}", **extra) for each in (name, absent))
                assert reported(hidden, name) == reported(never, absent), case
                assert (hidden.status_code, hidden["Cache-Control"]) == (404, "no-store"), case


def test_files_follow_the_internal_access_mode(world: SimpleNamespace, settings: Any) -> None:
    name = with_files(audience="internal").image.name
    anybody, token = Client(), issue(user=world.accounts["insider"], lifetime=DAY)[1]
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    modes = {
        "public": (200, 200, 200),
        "authenticated": (404, 404, 200),
        "network": (404, 200, 404),
    }
    for mode, seen in modes.items():
        settings.INTERNAL_ACCESS = mode
        requested = (
            anybody.get(f"/media/{name}", REMOTE_ADDR=OUTSIDE),
            anybody.get(f"/media/{name}", REMOTE_ADDR=INSIDE),
            anybody.get(f"/media/{name}", REMOTE_ADDR=OUTSIDE, **bearer),
        )
        assert tuple(answer.status_code for answer in requested) == seen, mode
        for answer in requested:
            if body(answer) and answer.status_code == 200:
                cached = "public, max-age=60" if mode == "public" else "private, no-store"
                assert answer["Cache-Control"] == cached
    assert status(anybody, f"/media/{name}", HTTP_AUTHORIZATION="Bearer wrong") == 404


def test_cross_origin_scripts_read_public_files_only(world: SimpleNamespace) -> None:
    origin = {"HTTP_ORIGIN": "https://careers.example"}
    shown, hidden = with_files(brand=world.brand), with_files(brand=world.brand, status="draft")
    client = client_of(world, "recruiter")
    for name in files_of(shown):
        for condition in CONDITIONS:
            answer = client.get(f"/media/{name}", **origin, **condition)
            body(answer)
            assert answer["Access-Control-Allow-Origin"] == "*"
            assert "origin" not in answer.get("Vary", "").lower()
            assert "ETag" in answer["Access-Control-Expose-Headers"]
        preflight = client.options(
            f"/media/{name}",
            HTTP_ACCESS_CONTROL_REQUEST_METHOD="GET",
            HTTP_ACCESS_CONTROL_REQUEST_HEADERS="if-none-match",
            **origin,
        )
        assert (preflight.status_code, preflight["Access-Control-Allow-Origin"]) == (200, "*")
    for name in files_of(hidden):
        for path in (f"/media/{name}", f"/media/{name}?preview={token_for(hidden.pk)}"):
            answer = client.get(path, **origin)
            body(answer)
            assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store")
            assert "Access-Control-Allow-Origin" not in answer


def test_unpublishing_hides_files_at_once(client: Client) -> None:
    vacancy = with_files()
    item = client.get(f"/v1/vacancies/{vacancy.pk}").json()["data"]
    assert item["image"] == f"http://testserver/media/{vacancy.image.name}"  # no token of a preview
    publication.duplicate(vacancy=vacancy, at=timezone.now())  # a draft that shares the files
    vacancies = Vacancy.objects.filter(pk=vacancy.pk)
    for _ in range(2):
        etags = {}
        for name in files_of(vacancy):
            response = client.get(f"/media/{name}")
            etags[name] = response["ETag"]
            assert (response.status_code, len(body(response)) > 0) == (200, True)
        publication.unpublish(vacancies=vacancies, at=timezone.now())
        for name, etag in etags.items():
            assert client.get(f"/media/{name}").status_code == 404
            assert client.get(f"/media/{name}", HTTP_IF_NONE_MATCH=etag).status_code == 404
        publication.publish(vacancies=vacancies, at=timezone.now())


def test_file_is_not_cached_beyond_its_publication(client: Client, at: Any) -> None:
    vacancy = with_files(publish_until=at + timedelta(seconds=20))
    name = vacancy.image.name
    assert status(client, f"/media/{name}") == 200
    assert client.head(f"/media/{name}")["Cache-Control"] == "public, max-age=20"
    copy = publication.duplicate(vacancy=vacancy, at=at)  # shows it for longer
    publication.publish(vacancies=Vacancy.objects.filter(pk=copy.pk), at=at)
    assert client.head(f"/media/{name}")["Cache-Control"] == "public, max-age=60"


# --- Previews ----------------------------------------------------------------------------------


def test_preview_gives_access_to_files_for_a_day(
    client: Client, settings: Any, time_machine: Any
) -> None:
    settings.INTERNAL_ACCESS = "authenticated"
    head = make_recruiter("Head")
    head.image.save("a.png", ContentFile(encoded("PNG")))
    vacancy = with_files(status="draft", audience="internal", head_recruiter=head)
    token = token_for(vacancy.pk)
    item = client.get(f"/v1/vacancies/{vacancy.pk}?preview={token}").json()["data"]
    page = client.get(f"/preview/{token}").content.decode()
    addresses = [item["image"], item["attachments"][0]["path"]]
    assert item["head_recruiter"]["image"] in page

    for address in addresses:
        assert address in page
        response = client.get(address.removeprefix("http://testserver"))
        assert (response.status_code, response["Cache-Control"]) == (200, "private, no-store")
        assert (response["X-Robots-Tag"], len(body(response)) > 0) == ("noindex", True)
        path = address.removeprefix("http://testserver").partition("?")[0]
        other = token_for(make_vacancy().pk)
        for query in (
            "",
            f"?preview={other}",
            "?preview=wrong",
            f"?preview={token}x",
            "?preview=%00",
        ):
            assert client.get(path + query).status_code == 404
    time_machine.move_to(timezone.now() + timedelta(hours=25))
    for address in addresses:
        assert client.get(address.removeprefix("http://testserver")).status_code == 404


# --- Brands and people -------------------------------------------------------------------------


def test_recruiter_and_brand_images_are_public_while_in_use(client: Client) -> None:
    brand, person = make_brand(), make_recruiter()
    for owner, field in ((brand, "icon_small"), (brand, "icon_large"), (person, "image")):
        file = getattr(owner, field)
        file.save("a.png", ContentFile(encoded("PNG")))
        first = file.name
        assert status(client, f"/media/{first}") == 200
        file.save("b.png", ContentFile(encoded("PNG")))
        assert (status(client, f"/media/{first}"), status(client, f"/media/{file.name}")) == (
            404,
            200,
        )
        setattr(owner, field, "")
        owner.save()
        assert status(client, f"/media/{file.name}") == 404


# --- Smaller copies of images ------------------------------------------------------------------


def with_image(content: bytes, **values: Any) -> Vacancy:
    vacancy = make_vacancy(**values)
    vacancy.image.save("a.png", ContentFile(content))
    return vacancy


def copy_of(vacancy: Vacancy, width: int = 480) -> str:
    return f"/media/{Path(vacancy.image.name).with_suffix('')}.{width}.webp"


def test_copy_is_visible_to_viewers_of_its_image(world: SimpleNamespace) -> None:
    content = encoded("JPEG", size=(1000, 400))
    clients = [client_of(world, viewer) for viewer in ("anonymous", "insider", "recruiter")]
    for state in ("published", "draft", "expired", "internal"):
        vacancy = with_image(content, brand=world.brand, **STATES[state]())
        preview = f"?preview={token_for(vacancy.pk)}"
        for client, query in [*product(clients, [""]), (clients[0], preview)]:
            image, copy = (
                client.get(path + query)
                for path in (f"/media/{vacancy.image.name}", copy_of(vacancy))
            )
            body(image), body(copy)
            seen = [
                (each.status_code, each["Cache-Control"], each.get("X-Robots-Tag"))
                for each in (image, copy)
            ]
            assert seen[0] == seen[1], (state, query)


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("JPEG", "RGB"),
        ("JPEG", "L"),
        ("JPEG", "CMYK"),
        ("PNG", "RGBA"),
        ("PNG", "P"),
        ("PNG", "I;16"),
        ("WEBP", "RGB"),
    ],
)
def test_copy_is_a_smaller_webp(client: Client, kind: str, mode: str) -> None:
    vacancy = with_image(encoded(kind, mode, (1001, 333)))
    for width, height in ((480, 160), (960, 319)):
        for _ in range(2):  # made, then read
            answer = client.get(copy_of(vacancy, width))
            with Image.open(BytesIO(body(answer))) as image:
                assert (image.format, image.size) == ("WEBP", (width, height))
            assert (answer["Content-Type"], answer["Cache-Control"]) == (
                "image/webp",
                "public, max-age=60",
            )
            assert answer["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert picture(f"https://a.test/media/{vacancy.image.name}") == (
        1001,
        333,
        ", ".join(
            f"https://a.test{path} {width}w"
            for path, width in (
                (copy_of(vacancy), 480),
                (copy_of(vacancy, 960), 960),
                (f"/media/{vacancy.image.name}", 1001),
            )
        ),
        f"https://a.test{copy_of(vacancy).removesuffix('480.webp')}1200.jpg",
        (1001, 333),
    )


def test_image_without_a_smaller_copy_is_shown_itself(client: Client, caplog: Any) -> None:
    narrow, torn, broken = (
        with_image(encoded("JPEG", size=(size, 400))) for size in (480, 1000, 1000)
    )
    Path(torn.image.path).write_bytes(Path(torn.image.path).read_bytes()[:900])
    Path(broken.image.path).write_bytes(SVG)
    for vacancy in (narrow, torn, broken):
        answer = client.get(copy_of(vacancy) + "?a=1")
        assert (answer.status_code, answer["Location"]) == (302, f"/media/{vacancy.image.name}?a=1")
    assert [each.getMessage() for each in caplog.records] == [
        f"No smaller copy of {torn.image.name}: OSError.",
        f"No smaller copy of {broken.image.name}: UnidentifiedImageError.",
    ]
    assert picture(f"/media/{narrow.image.name}")[:3] == (480, 400, "")
    assert picture(f"/media/{broken.image.name}") is None
    for url in (
        "",
        "https://other.test/a.jpg",
        f"/media/{ABSENT}",
        "/media/brands/a.png",
        "/media/vacancies/",
    ):
        assert picture(url) is None
    Path(narrow.image.path).unlink()
    for path in (
        copy_of(narrow, 479),
        copy_of(narrow, 48),
        f"{copy_of(narrow)}.webp",
        "/media/brands/a.480.webp",
    ):
        assert client.get(path).status_code == 404, path
    # Nothing half done.
    assert {path.suffix for path in Path(torn.image.path).parent.iterdir()} == {".jpg"}


def test_copy_is_made_by_several_requests_at_once(client: Client, settings: Any) -> None:
    vacancy = with_image(encoded("JPEG", size=(2000, 1000)))
    name = copy_of(vacancy).removeprefix("/media/")
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: make_copy(vacancy.image.name, name, 480), range(4)))
    assert len([*Path(vacancy.image.path).parent.iterdir()]) == 2
    settings.X_ACCEL_PREFIX = "/_media/"
    assert client.get(f"/media/{name}")["X-Accel-Redirect"] == f"/_media/{name}"


# --- Handing out -------------------------------------------------------------------------------


def test_every_kind_that_may_be_uploaded_has_one_type() -> None:
    assert set(TYPES) == {f".{ending}" for ending in ENDINGS} | set(IMAGE_ENDINGS)


def test_content_type_is_by_extension_and_the_file_name_by_title(
    client: Client, settings: Any
) -> None:
    """Also for files that were stored before the validators existed."""
    binary, folder = "application/octet-stream", Path(settings.MEDIA_ROOT) / "attachments"
    folder.mkdir(parents=True)
    vacancy, found = make_vacancy(), {}
    expected = {
        ("a.pdf", "Profile.pdf"): ("application/pdf", 'attachment; filename="Profile.pdf"'),
        ("a.pdf", "Profile"): ("application/pdf", 'attachment; filename="Profile.pdf"'),
        ("a.PDF", "é.pdf"): ("application/pdf", "attachment; filename*=utf-8''%C3%A9.pdf"),
        ("a.txt", 'a"b\\c/d.txt'): (
            "text/plain; charset=utf-8",
            'attachment; filename="a_b_c_d.txt"',
        ),
        ("a.pdf", "x\r\nSet-Cookie: a=b"): (
            "application/pdf",
            'attachment; filename="x__Set-Cookie: a=b.pdf"',
        ),
        ("a.pdf", "cv\u202efdp.exe"): ("application/pdf", 'attachment; filename="cv_fdp.exe.pdf"'),
        ("a.pdf", ".."): ("application/pdf", "attachment"),
        ("a.jpg", "Plan.jpg"): ("image/jpeg", 'inline; filename="Plan.jpg"'),
        ("a.html", "a.html"): (binary, 'attachment; filename="a.html"'),
        ("a.svg", "a.svg"): (binary, 'attachment; filename="a.svg"'),
        ("a", "a"): (binary, 'attachment; filename="a"'),
    }
    for stored, title in expected:
        name = f"attachments/{stored}"
        (folder / stored).write_bytes(b"<script>")
        attachment = Attachment.objects.create(vacancy=vacancy, name=title, file=name)
        response = client.get(f"/media/{name}")
        found[stored, title] = (response["Content-Type"], response["Content-Disposition"])
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert body(response) == b"<script>"
        attachment.delete()
    assert found == expected


def test_range_head_and_conditional_requests(client: Client) -> None:
    path = f"/media/{with_files().attachments.get().file.name}"
    whole = client.get(path, HTTP_ACCEPT_ENCODING="gzip")
    assert (body(whole), whole["Content-Length"]) == (PDF, str(len(PDF)))
    assert "Content-Encoding" not in whole

    part = client.get(path, HTTP_RANGE="bytes=5-9")
    assert (part.status_code, body(part), part["Content-Range"]) == (
        206,
        PDF[5:10],
        f"bytes 5-9/{len(PDF)}",
    )
    beyond = client.get(path, HTTP_RANGE="bytes=99999-")
    assert (beyond.status_code, beyond["Content-Range"]) == (416, f"bytes */{len(PDF)}")
    for odd in ("bytes=x", "lines=1-2", "bytes=0-1,5-6", "bytes=²-3", "bytes=" + "9" * 5000):
        answer = client.get(path, HTTP_RANGE=odd)
        assert (answer.status_code, body(answer)) == (200, PDF), odd

    head = client.head(path)
    assert (head.status_code, body(head), head["Content-Length"]) == (200, b"", str(len(PDF)))
    known = {"HTTP_IF_NONE_MATCH": whole["ETag"], "HTTP_IF_MODIFIED_SINCE": whole["Last-Modified"]}
    for name, value in known.items():
        unchanged = client.get(path, **{name: value})
        assert (unchanged.status_code, body(unchanged)) == (304, b"")
        assert unchanged["Cache-Control"] == "public, max-age=60"
    changed = client.get(path, HTTP_IF_NONE_MATCH='"another"', HTTP_IF_MODIFIED_SINCE="no date")
    assert body(changed) == PDF


def test_nginx_sends_the_content(client: Client, settings: Any) -> None:
    settings.X_ACCEL_PREFIX = "/_media/"
    vacancy = with_files()
    direct = client.get(f"/media/{vacancy.image.name}")
    assert (direct.status_code, direct.content) == (200, b"")
    assert direct["X-Accel-Redirect"] == f"/_media/{vacancy.image.name}"
    assert (direct["Content-Type"], direct["Content-Disposition"]) == ("image/png", "inline")
    assert direct["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert direct["Cache-Control"] == "public, max-age=60"
    file = Path(vacancy.image.path).stat()
    assert direct["ETag"] == f'"{int(file.st_mtime):x}-{file.st_size:x}"'  # as nginx makes it
    assert (
        client.get(f"/media/{vacancy.image.name}", HTTP_IF_NONE_MATCH=direct["ETag"]).status_code
        == 304
    )

    Attachment.objects.update(file="attachments/é ?%.pdf")
    (Path(settings.MEDIA_ROOT) / "attachments/é ?%.pdf").write_bytes(PDF)
    response = client.get("/media/attachments/%C3%A9%20%3F%25.pdf")
    assert response["X-Accel-Redirect"] == "/_media/attachments/%C3%A9%20%3F%25.pdf"
    Vacancy.objects.update(status="unpublished")
    hidden = client.get(f"/media/{vacancy.image.name}")
    assert (hidden.status_code, "X-Accel-Redirect" in hidden) == (404, False)


INVALID = (
    "x",
    "vacancies",
    "vacancies/",
    "vacancies/%00",
    "vacancies/../settings.py",
    "../manage.py",
    "vacancies/%2e%2e/%2e%2e/db.sqlite3",
    "vacancies//etc/passwd",
    "/etc/passwd",
    "vacancies/a/b.png",
    "vacancies/" + "a" * 3000,
    "vacancies/%ff%fe",
    "brands/%00.png",
    "recruiters/'--.png",
    "static/a.css",
)


def test_invalid_paths_are_not_found(client: Client) -> None:
    vacancy = with_files()
    for path in INVALID:
        assert client.get(f"/media/{path}").status_code == 404, path
    assert client.post(f"/media/{vacancy.image.name}").status_code == 405
    Path(vacancy.image.path).unlink()
    assert client.get(f"/media/{vacancy.image.name}").status_code == 404


def test_public_file_takes_one_query(client: Client, django_assert_num_queries: Any) -> None:
    vacancy = with_files(recruiters=("Zoë",))
    zoe = Recruiter.objects.get(name="Zoë")
    zoe.image.save("a.png", ContentFile(encoded("PNG")))
    vacancy.brand.icon_small.save("a.png", ContentFile(encoded("PNG")))
    for name in (*files_of(vacancy), zoe.image.name, vacancy.brand.icon_small.name, ABSENT):
        with django_assert_num_queries(1):
            status(client, f"/media/{name}")
