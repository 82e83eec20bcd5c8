"""Previews: a signed link opens an unpublished vacancy for a day."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from forms_structure import operations as forms
from tests.conftest import NOW
from tests.factories import make_brand, make_insider, make_recruiter, make_vacancy
from tests.forms_structure.strategies import section, text_field
from vacancies import operations
from vacancies.models import Attachment, Vacancy
from vacancies.previews import ends_at, opened_by, token_for

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
STATES: dict[str, dict[str, Any]] = {
    "draft": {"status": "draft", "publish_from": None},
    "scheduled": {"publish_from": NOW + DAY},
    "published": {"publish_from": NOW - DAY},
    "expired": {"publish_from": NOW - 2 * DAY, "publish_until": NOW - DAY},
    "unpublished": {"status": "unpublished", "publish_from": NOW - 2 * DAY},
    "archived": {"status": "archived", "publish_from": None},
}
SUFFIXES = ("", "/form", "/form/schema")


@pytest.fixture(autouse=True)
def _stopped(time_machine: Any) -> None:
    time_machine.move_to(NOW, tick=False)


def make_full(state: str, **values: Any) -> Vacancy:
    """A vacancy with a value for every key of an item, and its own form."""
    form = forms.create(name="Own", language="nl", structure=[section(text_field("boots"), title="Yard")])
    vacancy = make_vacancy(
        title="Secret nurse", form=form, image_url="https://images.acme.test/a.png", video="https://acme.test/v",
        options={"regions": ["Ghent", "Antwerp"], "functiongroup": ["Care"]}, recruiters=("Zoë",),
        **STATES[state] | values,
    )  # fmt: skip
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    return vacancy


def api(vacancy: Any, suffix: str = "") -> str:
    return f"/v1/vacancies/{vacancy.pk}{suffix}"


@pytest.mark.slow
@pytest.mark.parametrize("access", ["public", "authenticated", "network"])
@pytest.mark.parametrize("audience", ["public", "internal"])
@pytest.mark.parametrize("state", STATES)
def test_only_the_preview_link_opens_an_unpublished_vacancy(
    client: Client, settings: Any, state: str, audience: str, access: str
) -> None:
    settings.INTERNAL_ACCESS = access
    vacancy = make_full(state, audience=audience)
    token = token_for(vacancy.pk)
    is_open = state == "published" and (audience == "public" or access == "public")

    page = client.get(f"/preview/{token}")

    assert (page.status_code, page.content.decode().count("<h1>Secret nurse</h1>")) == (200, 1)
    for suffix in SUFFIXES:
        assert client.get(api(vacancy, suffix), {"preview": token}).status_code == 200
        assert client.get(api(vacancy, suffix)).status_code == (200 if is_open else 404)
        assert client.get(api(vacancy, suffix), {"preview": "wrong"}).status_code == 404
    lists = (
        "/v1/vacancies",
        "/v0.1/vacancies",
        "/v1/vacancies/hot",
        "/v1/filters",
        "/v1/vacancies/hot/internal",
    )
    for address in lists:
        without_token, with_token = client.get(address), client.get(address, {"preview": token})
        assert (with_token.status_code, with_token.content) == (
            without_token.status_code,
            without_token.content,
        )
        assert with_token.headers.get("Cache-Control") == without_token.headers.get("Cache-Control")
        if not (state == "published" and audience == "public"):
            assert b"Secret nurse" not in with_token.content
    total = client.get("/v1/vacancies", {"preview": token}).json()["meta"]["total"]
    assert total == (state == "published" and audience == "public")


def test_links_of_a_list_leave_the_token_out(client: Client) -> None:
    make_full("published")
    token = token_for(make_vacancy().pk)
    body = client.get("/v1/vacancies", {"preview": token, "page[size]": "1"}).content.decode()
    assert "preview" not in body


@pytest.mark.parametrize("state", [state for state in STATES if state not in ("published", "expired")])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_preview_equals_the_published_item(client: Client, state: str, suffix: str) -> None:
    vacancy = make_full(state)
    before = client.get(api(vacancy, suffix), {"preview": token_for(vacancy.pk)})

    chosen = Vacancy.objects.filter(pk=vacancy.pk)
    assert operations.publish(vacancies=chosen, at=NOW + SECOND).done == [vacancy.pk]
    Vacancy.objects.update(publish_from=NOW)

    after = client.get(api(vacancy, suffix))
    assert after.status_code == 200
    shown, public = before.json(), after.json()
    if not suffix:
        assert shown["data"].pop("updated_at") != public["data"].pop("updated_at")
    assert shown == public
    for name in ("Form-Version", "Content-Language", "Content-Type"):
        assert before.headers.get(name) == after.headers.get(name)


@pytest.mark.parametrize("state", STATES)
def test_preview_names_the_address_for_applications_only_if_published(client: Client, state: str) -> None:
    mail = text_field("mail", type="email", role="email", required=True)
    vacancy = make_vacancy(form=forms.create(name="Own", structure=[section(mail)]), **STATES[state])

    preview = client.get(api(vacancy, "/form"), {"preview": token_for(vacancy.pk)})

    assert preview.has_header("Apply") is (state == "published")


def test_preview_links_to_the_external_application(client: Client) -> None:
    vacancy = make_full("draft", apply_url="https://apply.acme.test/nurse?a=1&b=2")

    page = client.get(f"/preview/{token_for(vacancy.pk)}").content.decode()

    assert '<a href="https://apply.acme.test/nurse?a=1&amp;b=2"' in page
    assert "form-data" not in page
    assert "preview.js" not in page


@pytest.mark.parametrize("state", ["draft", "published"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_preview_response_is_not_cached(client: Client, state: str, suffix: str) -> None:
    vacancy = make_full(state)
    query = {"preview": token_for(vacancy.pk)}

    response = client.get(api(vacancy, suffix), query, headers={"Origin": "https://elsewhere.test"})

    assert response["Cache-Control"] == "private, no-store"
    assert response["X-Robots-Tag"] == "noindex"
    for name in ("ETag", "Last-Modified", "Access-Control-Allow-Origin"):
        assert not response.has_header(name)
    head = client.head(f"{api(vacancy, suffix)}?preview={query['preview']}")
    assert (head.status_code, head.content, head["Cache-Control"]) == (200, b"", "private, no-store")
    assert head["Content-Length"] == str(len(response.content))
    assert not head.has_header("ETag")
    wrong = client.get(api(vacancy, suffix), {"preview": "wrong"})
    assert (wrong.status_code, wrong["X-Robots-Tag"]) == (404, "noindex")
    assert "public" not in wrong.get("Cache-Control", "")
    if state == "published":
        plain = client.get(api(vacancy, suffix))
        assert plain["Cache-Control"].startswith("public, max-age=")
        assert plain.has_header("ETag")
        assert not plain.has_header("X-Robots-Tag")


def test_preview_page_is_not_cached_and_sends_no_referrer(client: Client) -> None:
    vacancy = make_full("draft")
    address = f"/preview/{token_for(vacancy.pk)}"
    responses = [
        client.get(address),
        client.head(address),
        client.get("/preview/wrong"),
        client.head("/preview/wrong"),
    ]

    assert [response.status_code for response in responses] == [200, 200, 404, 404]
    assert [len(response.content) == 0 for response in responses] == [False, True, False, True]
    for response in responses:
        assert response["Cache-Control"] == "private, no-store"
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert response["Referrer-Policy"] == "no-referrer"
        policy = response["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
        assert "unsafe" not in policy
        assert "form-action 'none'" in policy
        for name in ("ETag", "Set-Cookie", "Access-Control-Allow-Origin"):
            assert not response.has_header(name)
    for method in (client.post, client.put, client.delete):
        assert method(address).status_code in (403, 405)


@pytest.mark.parametrize(("later", "is_open"), [(DAY - SECOND, True), (DAY, True), (DAY + SECOND, False)])
def test_preview_link_expires_after_a_day(
    client: Client, time_machine: Any, later: timedelta, is_open: bool
) -> None:
    vacancy = make_full("draft")
    token = token_for(vacancy.pk)
    assert ends_at(token) == NOW + DAY

    time_machine.move_to(NOW + later, tick=False)

    assert opened_by(token) == (vacancy.pk if is_open else None)
    for suffix in SUFFIXES:
        assert client.get(api(vacancy, suffix), {"preview": token}).status_code == (200 if is_open else 404)
    page = client.get(f"/preview/{token}")
    assert page.status_code == (200 if is_open else 404)
    assert (b"Secret nurse" in page.content) == is_open


@pytest.mark.parametrize(
    "alter",
    [
        lambda token, other: other,
        lambda token, other: f"{other.split(':')[0]}:{token.partition(':')[2]}",
        lambda token, other: token[:-1] + ("A" if token[-1] != "A" else "B"),
        lambda token, other: token.partition(":")[0],
        lambda token, other: token + " ",
        lambda token, other: f"{token}\0",
        lambda token, other: "é:é:é",
        lambda token, other: ":::",
        lambda token, other: "x" * 5000,
    ],
)
def test_wrong_preview_token_is_refused(client: Client, alter: Any) -> None:
    vacancy, other = make_full("draft"), make_vacancy(title="Other", **STATES["draft"])
    token = alter(token_for(vacancy.pk), token_for(other.pk))

    bodies = set()
    for suffix in SUFFIXES:
        for pk in (vacancy.pk, other.pk + 1000):
            response = client.get(f"/v1/vacancies/{pk}{suffix}", {"preview": token})
            assert response.status_code == 404
            bodies.add(response.json()["detail"])
    assert len(bodies) == 1  # hidden and unknown vacancies give the same response
    assert b"Secret nurse" not in client.get(f"/preview/{token}".replace("\0", "%00")).content


def test_preview_of_a_deleted_vacancy_is_not_found(client: Client) -> None:
    vacancy = make_full("draft")
    token, address = token_for(vacancy.pk), api(vacancy)
    vacancy.delete()

    assert client.get(address, {"preview": token}).status_code == 404
    assert client.get(f"/preview/{token}").status_code == 404


def test_token_given_twice_is_refused(client: Client) -> None:
    vacancy = make_full("draft")
    token = token_for(vacancy.pk)
    assert client.get(f"{api(vacancy)}?preview={token}&preview={token}").status_code == 400


@pytest.mark.parametrize("missing", [{"brand": None}, {"head_recruiter": None}, {"description": ""}])
def test_preview_of_an_incomplete_draft(client: Client, missing: dict[str, Any]) -> None:
    vacancy = make_vacancy(title="Secret nurse", **STATES["draft"])
    Vacancy.objects.update(**missing)
    token = token_for(vacancy.pk)

    item = client.get(api(vacancy), {"preview": token}).json()["data"]
    page = client.get(f"/preview/{token}")

    assert (item["title"], page.status_code) == ("Secret nurse", 200)
    if "brand" in missing:
        assert "brand" not in item
    else:
        [name] = missing
        assert item[name] is None


def test_preview_hides_private_contact_data(client: Client) -> None:
    head = make_recruiter("Jan", email="jan@acme.test", phone="+32 3 555", is_phone_public=True)
    vacancy = make_vacancy(head_recruiter=head, brand=make_brand("Other"), **STATES["draft"])
    token = token_for(vacancy.pk)

    responses = [client.get(api(vacancy), {"preview": token}), client.get(f"/preview/{token}")]

    for response in responses:
        assert b"jan@acme.test" not in response.content
        assert b"+32 3 555" in response.content


def test_preview_page_escapes_plain_texts(client: Client) -> None:
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    head = make_recruiter(hostile, function=hostile)
    vacancy = make_vacancy(
        title=hostile, location=hostile, head_recruiter=head, brand=make_brand(hostile),
        recruiters=(hostile,), options={"regions": [hostile]}, **STATES["draft"],
    )  # fmt: skip
    Attachment.objects.create(vacancy=vacancy, name=hostile, url="https://acme.test/a.pdf")

    html = client.get(f"/preview/{token_for(vacancy.pk)}").content.decode()

    assert html.count("alert(1)") > 6
    assert "<script>alert" not in html
    assert "<img src=x" not in html


def test_admin_shows_the_preview_link_to_viewers_of_the_vacancy(client: Client) -> None:
    vacancy = make_full("draft")
    address = f"/admin/vacancies/vacancy/{vacancy.pk}/preview/"
    assert client.get(address)["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_superuser("anna"))

    link = client.get(address)["Location"]

    assert link == f"/preview/{token_for(vacancy.pk)}"
    client.logout()
    assert b"<h1>Secret nurse</h1>" in client.get(link).content


# --- the page of a public vacancy ---


@pytest.mark.parametrize("access", ["public", "authenticated"])
@pytest.mark.parametrize("audience", ["public", "internal", "both"])
@pytest.mark.parametrize("state", STATES)
def test_page_is_open_like_the_item_of_the_interface(
    client: Client, settings: Any, state: str, audience: str, access: str
) -> None:
    settings.INTERNAL_ACCESS = access
    vacancy = make_full(state, audience=audience)

    response = client.get(f"/vacancies/{vacancy.pk}")

    assert response.status_code == client.get(api(vacancy)).status_code
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert response["Cache-Control"] == "private, no-store"
    if response.status_code == 404:
        assert response.content == client.get(f"/vacancies/{10**9}").content
        assert "Secret" not in response.content.decode()
        return
    text = response.content.decode()
    assert text.count("<h1>Secret nurse</h1>") == 1
    assert f'href="http://testserver/v1/vacancies/{vacancy.pk}"' in text
    assert "Anyone with the link" not in text
    assert "preview=" not in text


@pytest.mark.parametrize("pk", ["0", "x", "1 ", "9" * 30, "१"])
def test_page_of_an_invalid_id_is_404(client: Client, pk: str) -> None:
    assert client.get(f"/vacancies/{pk}").status_code == 404


def test_page_links_the_form_to_apply(client: Client, settings: Any) -> None:
    mail = text_field("mail", type="email", required=True, role="email")
    vacancy = make_vacancy(form=forms.create(name="Own", structure=[section(mail)]))
    link = f'href="/apply/{vacancy.pk}"'
    assert link not in client.get(f"/vacancies/{vacancy.pk}").content.decode()
    settings.APPLY_PAGES = True
    assert link in client.get(f"/vacancies/{vacancy.pk}").content.decode()
    assert link not in client.get(f"/preview/{token_for(vacancy.pk)}").content.decode()


def test_insider_opens_the_page_of_an_internal_vacancy(client: Client, settings: Any) -> None:
    settings.INTERNAL_ACCESS = "authenticated"
    vacancy = make_full("published", audience="internal")
    client.force_login(make_insider())
    assert client.get(f"/vacancies/{vacancy.pk}").status_code == 200
