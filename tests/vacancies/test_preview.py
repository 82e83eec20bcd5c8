"""Previews: a signed link opens an unpublished vacancy for a day."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import cycle, product
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from forms_structure import operations as forms
from forms_structure.rendering import form_context
from jobsite.text import html
from tests.conftest import NOW
from tests.factories import make_brand, make_insider, make_recruiter, make_vacancy
from tests.forms_structure.strategies import section, text_field
from vacancies.access.previews import ends_at, opened_by, token_for
from vacancies.facts.pay import pay_text
from vacancies.models import Attachment, Brand, Vacancy
from vacancies.operations import publication

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
HOURLY = {"pay_currency": "EUR", "pay_period": "hour"}
SUFFIXES = ("", "/form", "/form/schema")


@pytest.fixture(autouse=True)
def _stopped(time_machine: Any) -> None:
    time_machine.move_to(NOW, tick=False)


def make_full(state: str, **values: Any) -> Vacancy:
    """A vacancy with a value for every key of an item, and its own form."""
    form = forms.create(
        name="Own", language="nl", structure=[section(text_field("boots"), title="Yard")]
    )
    vacancy = make_vacancy(
        title="Secret nurse",
        form=form,
        image_url="https://images.acme.test/a.png",
        video="https://acme.test/v",
        options={"regions": ["Ghent", "Antwerp"], "functiongroup": ["Care"]},
        recruiters=("Zoë",),
        **STATES[state] | values,
    )
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    return vacancy


def bring(vacancy: Vacancy, state: str, **values: Any) -> None:
    """Write `vacancy` in that state, without a version."""
    plain = {"status": "published", "publish_from": NOW - DAY, "publish_until": None}
    Vacancy.objects.filter(pk=vacancy.pk).update(**plain | STATES[state] | values)


def api(vacancy: Any, suffix: str = "") -> str:
    return f"/v1/vacancies/{vacancy.pk}{suffix}"


ACCESS = ("public", "authenticated", "network")
CASES = {
    *(
        (*pair, access)
        for pair, access in zip(product(STATES, ("public", "internal")), cycle(ACCESS))
    ),
    *product(["published"], ["internal"], ACCESS),
}


@pytest.mark.slow("every state, audience and access mode")
def test_only_the_preview_link_opens_an_unpublished_vacancy(client: Client, settings: Any) -> None:
    vacancy = make_full("published")
    token = token_for(vacancy.pk)
    lists = [
        f"/v1/{end}" for end in ("vacancies", "vacancies/hot", "vacancies/hot/internal", "filters")
    ]
    lists.append("/v0.1/vacancies")
    for case in sorted(CASES):
        state, audience, settings.INTERNAL_ACCESS = case
        bring(vacancy, state, audience=audience)
        is_public = state == "published" and audience == "public"
        is_open = state == "published" and (is_public or settings.INTERNAL_ACCESS == "public")

        page = client.get(f"/preview/{token}")

        shown = (page.status_code, page.content.decode().count("<h1>Secret nurse</h1>"))
        assert shown == (200, 1), case
        for suffix in SUFFIXES:
            queries = ({"preview": token}, {}, {"preview": "wrong"})
            found = [client.get(api(vacancy, suffix), query).status_code for query in queries]
            assert found == [200, 200 if is_open else 404, 404], (case, suffix)
        for address in lists:
            plain, with_token = client.get(address), client.get(address, {"preview": token})
            seen, expected = (
                (answer.status_code, answer.content, answer.headers.get("Cache-Control"))
                for answer in (with_token, plain)
            )
            assert seen == expected, (case, address)
            assert is_public or b"Secret nurse" not in with_token.content, (case, address)
            assert b"preview" not in with_token.content, (case, address)  # nor in its links
        assert (
            client.get("/v1/vacancies", {"preview": token}).json()["meta"]["total"] == is_public
        ), case


@pytest.mark.parametrize(
    "state", [state for state in STATES if state not in ("published", "expired")]
)
def test_preview_equals_the_published_item(client: Client, state: str) -> None:
    vacancy = make_full(state)
    query = {"preview": token_for(vacancy.pk)}
    before = {suffix: client.get(api(vacancy, suffix), query) for suffix in SUFFIXES}

    chosen = Vacancy.objects.filter(pk=vacancy.pk)
    assert publication.publish(vacancies=chosen, at=NOW + SECOND).done == [vacancy.pk]
    Vacancy.objects.update(publish_from=NOW)

    for suffix, preview in before.items():
        after = client.get(api(vacancy, suffix))
        assert after.status_code == 200
        shown, public = preview.json(), after.json()
        if not suffix:
            assert shown["data"].pop("updated_at") != public["data"].pop("updated_at")
            for name in ("published_at", "closes_at", "closing_date"):
                del shown["data"][name], public["data"][name]
        assert shown == public, suffix
        for name in ("Form-Version", "Content-Language", "Content-Type"):
            assert preview.headers.get(name) == after.headers.get(name), (suffix, name)


def test_preview_names_the_address_for_applications_only_if_published(
    client: Client, settings: Any
) -> None:
    mail = text_field("mail", type="email", role="email", required=True)
    vacancy = make_vacancy(form=forms.create(name="Own", structure=[section(mail)]))
    named = []
    for state in STATES:
        bring(vacancy, state)
        preview = client.get(api(vacancy, "/form"), {"preview": token_for(vacancy.pk)})
        if preview.has_header("Apply"):
            named.append(state)
    assert named == ["published"]

    bring(vacancy, "published")
    link, public = f'href="/apply/{vacancy.pk}"', f"/vacancies/{vacancy.pk}"
    assert link not in client.get(public).content.decode()
    settings.APPLY_PAGES = True
    assert link in client.get(public).content.decode()
    assert link not in client.get(f"/preview/{token_for(vacancy.pk)}").content.decode()


def test_preview_links_to_the_external_application(client: Client) -> None:
    vacancy = make_full("draft", apply_url="https://apply.acme.test/nurse?a=1&b=2")

    page = client.get(f"/preview/{token_for(vacancy.pk)}").content.decode()

    assert '<a href="https://apply.acme.test/nurse?a=1&amp;b=2"' in page
    assert "form-data" not in page
    assert "preview.js" not in page


def test_preview_response_is_not_cached(client: Client) -> None:
    vacancy = make_full("draft")
    query = {"preview": token_for(vacancy.pk)}
    for state, suffix in product(("draft", "published"), SUFFIXES):
        bring(vacancy, state)
        response = client.get(
            api(vacancy, suffix), query, headers={"Origin": "https://elsewhere.test"}
        )

        assert response["Cache-Control"] == "private, no-store"
        assert response["X-Robots-Tag"] == "noindex"
        for name in ("ETag", "Last-Modified", "Access-Control-Allow-Origin"):
            assert not response.has_header(name), (state, suffix, name)
        head = client.head(f"{api(vacancy, suffix)}?preview={query['preview']}")
        assert (head.status_code, head.content, head["Cache-Control"]) == (
            200,
            b"",
            "private, no-store",
        )
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
    methods = product((address, "/preview/wrong"), (client.get, client.head))
    responses = [method(path) for path, method in methods]

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


def test_preview_link_expires_after_a_day(client: Client, time_machine: Any) -> None:
    vacancy = make_full("draft")
    token = token_for(vacancy.pk)
    assert ends_at(token) == NOW + DAY

    for later, is_open in ((DAY - SECOND, True), (DAY, True), (DAY + SECOND, False)):
        time_machine.move_to(NOW + later, tick=False)
        expected = 200 if is_open else 404
        assert opened_by(token) == (vacancy.pk if is_open else None), later
        for suffix in SUFFIXES:
            assert client.get(api(vacancy, suffix), {"preview": token}).status_code == expected, (
                later
            )
        page = client.get(f"/preview/{token}")
        assert (page.status_code, b"Secret nurse" in page.content) == (expected, is_open), later


def test_wrong_preview_token_is_refused(client: Client) -> None:
    vacancy, other = make_full("draft"), make_vacancy(title="Other", **STATES["draft"])
    right, foreign = token_for(vacancy.pk), token_for(other.pk)
    tokens = (
        f"{foreign.split(':')[0]}:{right.partition(':')[2]}",
        right[:-1] + ("A" if right[-1] != "A" else "B"),
        right.partition(":")[0],
        *(f"{right} ", f"{right}\0", "é:é:é", ":::", "x" * 5000),
    )
    bodies = set()
    for token in (foreign, *tokens):
        for suffix in SUFFIXES:
            for pk in (vacancy.pk, other.pk + 1000):
                response = client.get(f"/v1/vacancies/{pk}{suffix}", {"preview": token})
                assert response.status_code == 404, (token, suffix)
                bodies.add(response.json()["detail"])
        page = client.get(f"/preview/{token}".replace("\0", "%00"))
        assert b"Secret nurse" not in page.content, token
    assert len(bodies) == 1  # hidden and unknown vacancies give the same response
    assert client.get(f"{api(vacancy)}?preview={right}&preview={right}").status_code == 400
    address = api(vacancy)
    vacancy.delete()
    assert client.get(address, {"preview": right}).status_code == 404
    assert client.get(f"/preview/{right}").status_code == 404


def test_preview_of_an_incomplete_draft_hides_private_contact_data(client: Client) -> None:
    head = make_recruiter("Jan", email="jan@acme.test", phone="+32 3 555", is_phone_public=True)
    vacancy = make_vacancy(title="Secret nurse", head_recruiter=head, **STATES["draft"])
    query = {"preview": token_for(vacancy.pk)}
    for response in (client.get(api(vacancy), query), client.get(f"/preview/{query['preview']}")):
        assert b"jan@acme.test" not in response.content
        assert b"+32 3 555" in response.content

    Vacancy.objects.update(brand=None, head_recruiter=None, description="")
    item = client.get(api(vacancy), query).json()["data"]
    page = client.get(f"/preview/{query['preview']}")
    assert (item["title"], page.status_code) == ("Secret nurse", 200)
    assert (item["head_recruiter"], item["description"], "brand" in item) == (None, None, False)


def test_preview_page_escapes_plain_texts(client: Client) -> None:
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    head = make_recruiter(hostile, function=hostile)
    vacancy = make_vacancy(
        title=hostile,
        location=hostile,
        head_recruiter=head,
        brand=make_brand(hostile),
        recruiters=(hostile,),
        options={"regions": [hostile]},
        reference=hostile,
        pay_note=hostile,
        places=({"street": hostile, "locality": hostile, "country": "BE"},),
        **STATES["draft"],
    )
    Attachment.objects.create(vacancy=vacancy, name=hostile, url="https://acme.test/a.pdf")

    html = client.get(f"/preview/{token_for(vacancy.pk)}").content.decode()

    assert html.count("alert(1)") > 10
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


@pytest.mark.slow("opens many pages")
def test_page_is_open_like_the_item_of_the_interface(client: Client, settings: Any) -> None:
    vacancy = make_full("published")
    absent = client.get(f"/vacancies/{10**9}").content
    audiences = ("public", "internal", "both")
    cases = [
        *product(STATES, audiences, ["public"]),
        *product(["published"], audiences, ["authenticated"]),
    ]
    seen = []
    for case in cases:
        state, audience, settings.INTERNAL_ACCESS = case
        bring(vacancy, state, audience=audience)

        response = client.get(f"/vacancies/{vacancy.pk}")

        assert response.status_code == client.get(api(vacancy)).status_code, case
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert response["Cache-Control"] == "private, no-store"
        if response.status_code == 404:
            assert response.content == absent, case
            continue
        seen.append(case)
        text = response.content.decode()
        assert text.count("<h1>Secret nurse</h1>") == 1
        assert f'href="http://testserver/v1/vacancies/{vacancy.pk}"' in text
        assert "Anyone with the link" not in text
        assert "preview=" not in text
    assert len(seen) == 5  # published; internal ones in public mode only
    for pk in ("0", "x", "1 ", "9" * 30, "१"):
        assert client.get(f"/vacancies/{pk}").status_code == 404, pk
    bring(vacancy, "published", audience="internal")
    client.force_login(make_insider())
    assert client.get(f"/vacancies/{vacancy.pk}").status_code == 200


def test_page_of_a_public_vacancy_leads_to_the_career_site(client: Client, settings: Any) -> None:
    settings.CAREER_SITE, settings.PUBLIC_BASE_URL = True, "https://jobs.example.com"
    vacancy = make_full("published")

    def answer() -> tuple[int, str | None]:
        response = client.get(f"/vacancies/{vacancy.pk}")
        assert response["Cache-Control"] == "private, no-store"
        return response.status_code, response.get("Location")

    path = f"/jobs/{vacancy.pk}-secret-nurse"
    assert answer() == (301, f"https://jobs.example.com{path}")
    Brand.objects.update(host="jobs.acme.test")
    assert answer() == (301, f"https://jobs.acme.test{path}")
    Brand.objects.update(vacancy_url="https://www.acme.test/jobs?id=")
    assert answer() == (301, f"https://www.acme.test/jobs?id={vacancy.pk}")
    bring(vacancy, "published", audience="internal")
    assert answer() == (200, None)
    bring(vacancy, "expired")
    assert answer() == (404, None)


def test_page_is_for_applicants_and_its_bar_for_recruiters(client: Client) -> None:
    vacancy = make_full("published")
    page, bar = f"/vacancies/{vacancy.pk}", '<aside class="notice"'
    assert bar not in client.get(page).text
    colleague = User.objects.create_user("anna", is_staff=True)
    client.force_login(colleague)
    assert bar not in client.get(page).text
    colleague.user_permissions.add(Permission.objects.get(codename="view_vacancy"))
    make_brand("Other").members.add(colleague)
    assert bar not in client.get(page).text, "a vacancy of another brand"
    vacancy.brand.members.add(colleague)
    assert bar in client.get(page).text

    vacancy.apply_url = "https://apply.acme.test/?a=1&b=2"
    vacancy.save()
    assert '<a class="apply" href="https://apply.acme.test/?a=1&amp;b=2"' in client.get(page).text


def test_page_shows_texts_as_they_were_sanitised_when_written(
    client: Client, monkeypatch: Any
) -> None:
    """To sanitise long texts in each request would take seconds."""
    vacancy = make_vacancy(description="<p>a</p>", short_description="<p>b</p>")
    monkeypatch.setattr(html, "_CLEANER", None)

    page = client.get(f"/vacancies/{vacancy.pk}").text
    sections = [section(text_field("f")) | {"description": "<p>c</p>"}]

    assert all(f"<p>{text}</p>" in page for text in "ab")
    assert form_context(sections, language="en")["sections"][0]["description"] == "<p>c</p>"


def facts_of(page: str) -> dict[str, list[str]]:
    """Return the facts that the page lists: their texts by label."""
    rows = re.findall(r"<dt>(.*?)</dt>(.*?)</div>", page, re.DOTALL)
    return {
        label: [unescape(text) for text in re.findall("<dd>(.*?)</dd>", texts)]
        for label, texts in rows
    }


def test_page_shows_facts_in_the_language_of_the_reader(client: Client) -> None:
    vacancy = make_vacancy(
        title="Infirmier",
        language="fr",
        reference="R-7",
        work_place="hybrid",
        options={"types": ["Full-time"]},
        pay_min=3100,
        pay_max="4250.50",
        pay_currency="EUR",
        pay_period="month",
        pay_note="Gross, committee 330",
        publish_from=NOW - DAY,
        publish_until=datetime(2026, 4, 1, tzinfo=UTC),
        places=(
            {
                "street": "Kaai 1",
                "postal_code": "2000",
                "locality": "Antwerp",
                "country": "BE",
                "latitude": 51,
                "longitude": 4,
            },
            {"locality": "Lille", "region": "Nord", "country": "FR"},
            {"kind": "applicant", "country": "DE"},
            {"kind": "applicant", "country": "NL"},
        ),
    )
    address = f"/vacancies/{vacancy.pk}"

    page = client.get(address, headers={"accept-language": "nl"}).text

    assert facts_of(page) == {
        "Plaatsen": ["Kaai 1, 2000 Antwerp, België", "Lille, Nord, Frankrijk"],
        "Landen voor telewerk": ["Duitsland, Nederland"],
        "Types": ["Full-time"],
        "Loon": ["€\xa03.100 – €\xa04.250,50 per maand", "Gross, committee 330"],
        "Sluitingsdatum": ["31 mrt 2026"],
        "Referentie": ["R-7"],
    }
    assert "<span>Hybride</span>" in page
    assert page.count('lang="fr" dir="auto"') == 2  # the title and the description
    assert 'lang="fr" dir' not in client.get(address, headers={"accept-language": "fr"}).text
    Vacancy.objects.update(is_pay_public=False)
    assert "3.100" not in client.get(address, headers={"accept-language": "nl"}).text
    assert "committee 330" not in client.get(address).text
    assert "committee 330" not in client.get(f"/preview/{token_for(vacancy.pk)}").text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, ""),
        ({"pay_note": "Committee 330"}, "Committee 330"),
        ({"pay_min": 20, **HOURLY}, "from €20 per hour"),
        ({"pay_max": "20.5", "pay_note": "gross", **HOURLY}, "up to €20.50 per hour (gross)"),
        ({"pay_min": 20, "pay_max": "20.00", **HOURLY}, "€20 per hour"),
        (
            {"pay_min": 0, "pay_max": 1_234_567, **HOURLY | {"pay_currency": "JPY"}},
            "¥0 – ¥1,234,567 per hour",
        ),
    ],
)
def test_pay_as_text(values: dict[str, Any], text: str) -> None:
    assert pay_text(Vacancy.objects.get(pk=make_vacancy(**values).pk).pay) == text
