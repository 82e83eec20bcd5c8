"""The page /apply/<id>, as browsers without JavaScript use it.
tests/browser/test_apply.py uses a browser.
"""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from applications.apply import NONCE, VERSION
from applications.models import Application, Message, SubmissionFile
from applications.submissions import proof
from forms_structure import operations as forms
from forms_structure.models import ConsentText
from tests.applications.applicants import make_anonymous
from tests.applications.makers import make_user, signed_in
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.forms_structure.strategies import section, text_field
from vacancies.models import Requisition, Vacancy
from vacancies.statistics.visits import STARTED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
YES_NO = [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}]
VALUES = {"first_name": "Zoë", "email": "zoe@example.com", "permit": "yes", "privacy_consent": "1"}


@pytest.fixture(autouse=True)
def _pages(settings: Any, tmp_path: Any, time_machine: Any) -> None:
    settings.APPLY_PAGES = True
    settings.APPLY_PROOF = "off"
    settings.PRIVATE_ROOT = tmp_path / "private"
    time_machine.move_to(NOW, tick=False)


def structure() -> list[dict[str, Any]]:
    when = text_field("when", on_value="no", required=True, label="When?")
    return [
        section(
            text_field("first_name", role="given_name", required=True, label="First name"),
            text_field("email", type="email", role="email", required=True, label="E-mail"),
            text_field(
                "permit", type="radio-group", options=YES_NO, conditional=[when], label="Permit?"
            ),
            text_field("cv", type="file", role="cv", label="CV"),
        )
    ]


def make_open(**values: Any) -> Vacancy:
    """A published vacancy that accepts applications."""
    form = forms.create(name="Apply", language=values.pop("language", "en"), structure=structure())
    return make_vacancy(
        **{"form": form, "title": "Nurse", "publish_from": NOW - timedelta(days=1)} | values
    )


@pytest.fixture
def vacancy() -> Vacancy:
    return make_open()


def address(vacancy: Vacancy) -> str:
    return f"/apply/{vacancy.pk}"


def hidden(html: str) -> dict[str, str]:
    """Return the hidden inputs of the form."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', html)
    return {name: unescape(value) for name, value in found}


def post(client: Client, vacancy: Vacancy, values: dict[str, Any], **extra: Any) -> Any:
    """Open the page and post it with `values`."""
    page = client.get(address(vacancy)).content.decode()
    return client.post(address(vacancy), {**hidden(page), **values}, **extra)


def errors(response: Any) -> list[str]:
    """Return the errors in the summary."""
    summary = re.search(r'class="job-form-summary".*?</ul>', response.content.decode(), re.DOTALL)
    assert summary
    return [
        unescape(re.sub("<[^>]+>", "", item)).strip()
        for item in re.findall(r"<li>(.*?)</li>", summary[0], re.DOTALL)
    ]


# --- showing ---


def test_page_shows_the_title_and_the_form_in_the_language_of_the_form(client: Client) -> None:
    vacancy = make_open(language="nl", title="Verpleger <b>")
    response = client.get(address(vacancy), headers={"Accept-Language": "fr"})
    html = response.content.decode()
    assert response.status_code == 200
    assert response["Content-Language"] == "nl"
    assert '<html lang="nl">' in html
    assert '<h1 lang="en" dir="auto">Verpleger &lt;b&gt;</h1>' in html
    assert set(hidden(html)) == {VERSION, NONCE}
    assert "Set-Cookie" not in response.headers
    assert response["Cache-Control"] == "private, no-cache"
    policy = response["Content-Security-Policy"]
    assert "unsafe" not in policy
    for part in (
        "form-action 'self'",
        "connect-src 'self'",
        "script-src 'self'",
        "frame-ancestors 'none'",
    ):
        assert part in policy


def test_page_needs_the_setting(client: Client, settings: Any, vacancy: Vacancy) -> None:
    settings.APPLY_PAGES = False
    for path in (address(vacancy), "/apply/thanks/x"):
        assert client.get(path).status_code == 404
    assert client.post(address(vacancy), VALUES).status_code == 404
    assert not Application.objects.exists()


def test_vacancy_without_applications_is_closed(client: Client) -> None:
    unknown = client.get("/apply/999999")
    assert b"Applications are closed" in unknown.content
    for changes in (
        {"status": "draft", "publish_from": None},
        {"publish_from": NOW + timedelta(seconds=1)},
        {"publish_until": NOW},
        {"status": "unpublished"},
        {"form": None},
    ):
        vacancy = make_open(**changes, title="Secret nurse")
        for response in (client.get(address(vacancy)), client.post(address(vacancy), VALUES)):
            assert response.status_code == 404, changes
            assert response.content == unknown.content, changes
    assert not Application.objects.exists()
    for pk in ("0", "01", "-1", "x", "9" * 30, "٣", "1%00"):
        for response in (client.get(f"/apply/{pk}"), client.post(f"/apply/{pk}", {})):
            assert response.status_code == 404, pk


def test_closed_page_is_in_the_language_of_the_browser(client: Client) -> None:
    response = client.get("/apply/999999", headers={"Accept-Language": "fr-BE,en;q=0.5"})
    assert "Les candidatures sont closes" in response.content.decode()
    assert response["Content-Language"] == "fr"
    assert "Accept-Language" in response["Vary"]


def test_vacancy_with_an_apply_url_leads_there(client: Client) -> None:
    vacancy = make_open(apply_url="https://jobs.elsewhere.example/1?a=1&b=2")
    response = client.get(address(vacancy), headers={"Accept-Language": "nl"})
    html = response.content.decode()
    assert response.status_code == 200
    assert '<a class="apply" href="https://jobs.elsewhere.example/1?a=1&amp;b=2"' in html
    assert "Verder naar jobs.elsewhere.example</a>" in html
    assert "<form" not in html
    assert client.post(address(vacancy), VALUES).status_code == 404
    assert not Application.objects.exists()

    hidden = make_open(
        apply_url="https://jobs.elsewhere.example/", status="draft", title="Secret nurse"
    )
    assert "elsewhere" not in client.get(address(hidden)).content.decode()


def test_pages_show_the_employer_and_lead_to_the_vacancy(client: Client, settings: Any) -> None:
    """Only an uploaded icon: applying causes no request to another site."""
    brand = make_brand(
        "Acme", icon_small="brands/a.png", icon_small_url="https://cdn.example/a.png"
    )
    vacancy = make_open(brand=brand)
    thanks = post(client, vacancy, VALUES)["Location"]
    for path in (address(vacancy), thanks):
        html = client.get(path).content.decode()
        assert f'href="/vacancies/{vacancy.pk}"' in html
        assert '<img src="/media/brands/a.png"' in html
        assert "Acme" in html
        assert "cdn.example" not in html
    brand.icon_small = ""
    brand.save()
    assert "<img" not in client.get(address(vacancy)).content.decode()


def test_browsers_can_fill_in_fields_with_a_role_or_type(client: Client) -> None:
    fields = [text_field("f1", role="given_name"), text_field("f2", role="family_name")]
    fields += [text_field("f3", role="phone"), text_field("f4", type="tel"), text_field("naam")]
    [part] = structure()
    part["fields"] = [*fields, part["fields"][1]]
    html = client.get(
        address(make_open(form=forms.create(name="Own", structure=[part])))
    ).content.decode()
    found = re.findall(r'<input(?=[^>]* name="(\w+)")[^>]* autocomplete="([\w-]+)"', html)
    assert dict(found) == {
        "f1": "given-name",
        "f2": "family-name",
        "f3": "tel",
        "f4": "tel",
        "naam": "name",
        "email": "email",
        "contact_me_by_fax": "off",
    }


def test_internal_vacancy_is_open_to_colleagues_only(client: Client, settings: Any) -> None:
    settings.INTERNAL_ACCESS = "authenticated"
    vacancy = make_open(audience="internal")
    colleague = signed_in(User.objects.create_user("colleague", is_staff=True))
    assert client.get(address(vacancy)).status_code == 404
    assert signed_in(make_user()).get(address(vacancy)).status_code == 404
    assert colleague.get(address(vacancy)).status_code == 200
    assert post(colleague, vacancy, VALUES).status_code == 302
    assert client.post(address(vacancy), VALUES).status_code == 404
    assert Application.objects.count() == 1


# --- submitting ---


def test_valid_form_is_stored_and_thanked(client: Client, vacancy: Vacancy) -> None:
    cv = SimpleUploadedFile("cv.pdf", b"%PDF-1.7\n%%EOF")
    response = post(client, vacancy, {**VALUES, "cv": cv, "when": "hidden"})

    application = Application.objects.get()
    assert response.status_code == 302
    assert urlsplit(response["Location"]).path.startswith("/apply/thanks/")
    page = client.get(response["Location"])
    assert page.status_code == 200
    assert f"<strong>{application.reference}</strong>" in page.content.decode()
    assert b"You will receive an e-mail at zoe@example.com" in page.content
    assert page["Cache-Control"] == "private, no-store"
    assert application.submission.values == {**VALUES, "cv": "cv.pdf"}, "without the hidden answer"
    assert (application.user, application.email, application.language) == (
        None,
        "zoe@example.com",
        "en",
    )
    assert [file.original_name for file in SubmissionFile.objects.all()] == ["cv.pdf"]
    assert Message.objects.get().application == application
    client.get(response["Location"])  # again
    assert Application.objects.count() == 1


def test_applicants_read_that_a_client_sees_the_application(
    client: Client, vacancy: Vacancy
) -> None:
    """On the page and in the receipt, but not who it is: that may be confidential."""
    line = "Recipients: our recruiters, and the employer for whom we fill this vacancy."
    texts = []
    for name in ("", "Zyxcorp"):
        Requisition.objects.update_or_create(vacancy=vacancy, defaults={"client": name})
        texts.append(client.get(address(vacancy)).content.decode())
    cv = SimpleUploadedFile("cv.pdf", b"%PDF-1.7\n%%EOF")
    post(client, vacancy, {**VALUES, "cv": cv})
    texts.append(Message.objects.get().body)
    assert [line in text for text in texts] == [False, True, True]
    assert "Zyxcorp" not in "".join(texts)


def test_same_page_sent_twice_is_one_application(client: Client, vacancy: Vacancy) -> None:
    """A double click, or a reload of the request."""
    page = hidden(client.get(address(vacancy)).content.decode())
    sent = [client.post(address(vacancy), {**page, **VALUES}) for _ in range(2)]
    references = [client.get(response["Location"]).content for response in sent]
    assert references[0] == references[1]
    assert Application.objects.count() == 1

    # After a return.
    changed = client.post(address(vacancy), {**page, **VALUES, "first_name": "Zoé"})
    assert changed.status_code == 302
    assert Application.objects.count() == 2


def test_errors_are_at_the_fields_and_what_was_typed_is_kept(
    client: Client, vacancy: Vacancy
) -> None:
    cv = SimpleUploadedFile("cv.pdf", b"%PDF-1.7\n%%EOF")
    values = {"first_name": '"Zoë" <b>', "email": "zoe", "permit": "no", "when": " ", "cv": cv}
    response = post(client, vacancy, values)
    html = response.content.decode()

    assert response.status_code == 422
    assert response["Cache-Control"] == "private, no-store"
    assert "<title>Error: Apply: Nurse</title>" in html
    assert errors(response) == [
        "E-mail – Enter a valid email address.",
        "When? – This field is required.",
        "CV – Choose this file again. Everything else is still filled in.",
        f"{ConsentText.objects.current('en').text} – This field is required.",
    ]
    assert 'value="&quot;Zoë&quot; &lt;b&gt;"' in html
    assert 'value="zoe"' in html
    assert re.search(r'type="radio"[^>]* value="no" checked', html)
    for name in ("email", "when", "privacy_consent", "cv"):
        [control] = re.findall(rf'<input[^>]*id="job-form-0-field-{name}"[^>]*>', html)
        assert 'aria-invalid="true"' in control
    assert not Application.objects.exists()
    again = {**hidden(html), **VALUES}
    assert client.post(address(vacancy), again).status_code == 302


def test_refused_submissions_say_why(client: Client, vacancy: Vacancy) -> None:
    response = post(client, vacancy, {**VALUES, "contact_me_by_fax": "spam"})
    assert (response.status_code, b"spam" in response.content) == (422, False)
    assert errors(response) == ["A hidden field was filled in. Send your application once more."]

    svg = SimpleUploadedFile("cv.pdf", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    response = post(client, vacancy, {**VALUES, "cv": svg})
    [error] = errors(response)
    assert (response.status_code, error[:5]) == (415, "CV – ")

    response = client.post(address(vacancy), VALUES, CONTENT_LENGTH=str(25 * 2**20 + 1))
    assert response.status_code == 413
    assert errors(response) == ["Your files are larger than 25 MB together. Choose smaller files."]
    assert not Application.objects.exists()
    for method in ("put", "patch", "delete", "options"):
        response = getattr(client, method)(address(vacancy))
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, POST"), method


@pytest.mark.parametrize("change", ["fields", "consent"])
def test_changed_form_is_shown_with_what_still_fits(
    client: Client, vacancy: Vacancy, change: str
) -> None:
    page = hidden(client.get(address(vacancy)).content.decode())
    if change == "fields":
        new = structure()
        new[0]["fields"][2] = text_field("city", required=True, label="City")
        forms.save(vacancy.form, forms.FormEdit(new))
    else:
        ConsentText.objects.add(language="en", text="I agree with another text.")
    response = client.post(address(vacancy), {**page, **VALUES})
    html = response.content.decode()
    assert response.status_code == 422
    assert "The form has changed since you opened it." in html
    assert 'value="zoe@example.com"' in html
    assert "checked" not in re.search(r'<input[^>]*name="privacy_consent"[^>]*>', html)[0]  # type: ignore[index]
    if change == "fields":
        assert errors(response)[0] == "City – This field is required."
    values = {**VALUES, "city": "Ghent"} if change == "fields" else VALUES
    values = {key: value for key, value in values.items() if change == "consent" or key != "permit"}
    assert client.post(address(vacancy), {**hidden(html), **values}).status_code == 302


def test_proof_needs_javascript(client: Client, settings: Any, vacancy: Vacancy) -> None:
    settings.APPLY_PROOF = "always"
    response = post(client, vacancy, VALUES)
    assert response.status_code == 429
    [error] = errors(response)
    assert "JavaScript" in error
    assert b'value="zoe@example.com"' in response.content
    assert proof.is_required(vacancy, at=NOW)


def test_attempts_are_limited_together_with_the_api(
    client: Client, settings: Any, vacancy: Vacancy
) -> None:
    settings.RATE_LIMIT = "600/min"
    for _ in range(20):
        assert client.post(f"/v1/vacancies/{vacancy.pk}/applications", {}).status_code == 400
    response = post(client, vacancy, VALUES)
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 3600
    [error] = errors(response)
    assert error.startswith("There were too many attempts. Try again in ")
    assert b'value="zoe@example.com"' in response.content
    assert client.get(address(vacancy)).status_code == 200


def test_hostile_values_are_refused(client: Client, vacancy: Vacancy) -> None:
    for values in (
        {"first_name": "a\0b"},
        {"first_name\0": "a"},
        {"": "a"},
        {"contact_me_by_fax": "x" * 100_000},
        {VERSION: "x" * 10_000, NONCE: "\ud7ff", "_other": "x"},
        {"privacy_consent": ["1", "2"], "permit": ["yes", "no"]},
        {"__proto__": "x", "csrfmiddlewaretoken": "x"},
    ):
        assert client.post(address(vacancy), values).status_code in (400, 422), values.keys()
    assert not Application.objects.exists()


@pytest.mark.parametrize("is_signed_in", [False, True])
def test_address_of_somebody_else_reveals_nothing(vacancy: Vacancy, is_signed_in: bool) -> None:
    """The responses of the page and of the API are those to an address that nobody used."""
    applicant = make_user(email="mia@example.com")
    client = signed_in(make_user()) if is_signed_in else Client()
    version = client.get(f"/v1/vacancies/{vacancy.pk}/form")["Form-Version"]

    def sent(address_of_somebody: str) -> tuple[Any, ...]:
        values = {**VALUES, "email": address_of_somebody}
        page = client.post(address(vacancy), values)
        shown = re.sub(r'value="[^"]*"|\w{64}', "", page.content.decode())
        data = {"version": version, "values": values}
        answer = client.post(f"/v1/vacancies/{vacancy.pk}/applications", data, "application/json")
        lengths = {name: len(value) for name, value in answer.json()["data"].items()}
        return page.status_code, shown, answer.status_code, lengths

    unused = sent("nobody@example.com")
    assert unused[2] == 201
    for user in (None, applicant):
        make_anonymous("mia@example.com", vacancy=vacancy, user=user)
        assert sent("MIA@example.com") == unused


# --- accounts ---


def test_application_of_a_session_belongs_to_the_account(vacancy: Vacancy) -> None:
    user = make_user("zoe")
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    page = client.get(address(vacancy), {"source": 'news"letter'})
    assert b"You are signed in as zoe." in page.content
    assert (
        client.post(address(vacancy), {**hidden(page.content.decode()), **VALUES}).status_code
        == 302
    )
    application = Application.objects.get()
    assert (application.user, application.submission.source) == (user, 'news"letter')


def test_source_is_that_of_the_link_or_of_its_campaign(vacancy: Vacancy) -> None:
    found = [
        hidden(Client().get(f"{address(vacancy)}?{query}").text).get("_source")
        for query in (
            "source=a&utm_source=b",
            "source=&utm_source=b",
            "utm_source=b",
            "utm_medium=b",
        )
    ]
    assert found == ["a", "b", "b", None]


def test_pages_have_the_layout_of_the_career_site(vacancy: Vacancy, settings: Any) -> None:
    pages = {"layout": '<header class="top">', "back": f'href="{vacancy.site_path}?source=a%26b"'}

    def shown(path: str) -> list[str]:
        response = Client().get(path)
        assert not response.cookies or path == "/account/login", path
        assert 'content="noindex"' in response.text, path
        return [name for name, text in pages.items() if text in response.text]

    paths = (
        f"{address(vacancy)}?source=a%26b",
        "/apply/999999",
        "/account/receipt/x",
        "/account/login",
    )
    assert [shown(path) for path in paths] == [[], [], [], []]
    settings.CAREER_SITE = True
    assert [shown(path) for path in paths] == [
        ["layout", "back"],
        ["layout"],
        ["layout"],
        ["layout"],
    ]


def test_only_a_form_that_is_shown_counts_as_started(vacancy: Vacancy) -> None:
    """Not a refused one, nor what was sent, nor the link to another site."""
    client = Client()
    responses = [
        client.get(address(vacancy)),
        client.post(address(vacancy), {}),
        client.get("/apply/999999"),
    ]
    vacancy.apply_url = "https://example.com/apply"
    vacancy.save()
    responses.append(client.get(address(vacancy)))
    assert [response.wsgi_request.META.get(STARTED) for response in responses] == [
        vacancy.pk,
        None,
        None,
        None,
    ]


def test_form_of_another_site_does_not_use_the_session(vacancy: Vacancy) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user())
    page = hidden(client.get(address(vacancy)).content.decode())
    page["csrfmiddlewaretoken"] = "x" * 64
    assert client.post(address(vacancy), {**page, **VALUES}).status_code == 302
    page = hidden(Client().get(address(vacancy)).content.decode())
    stranger = Client(enforce_csrf_checks=True)  # without cookies
    assert (
        stranger.post(address(vacancy), {**page, **VALUES, "first_name": "Zoé"}).status_code == 302
    )
    assert [application.user for application in Application.objects.all()] == [None, None]


# --- thanks ---


def test_thanks_need_a_signed_link(client: Client, time_machine: Any) -> None:
    link = post(client, make_open(language="nl"), VALUES)["Location"]
    assert '<html lang="nl">' in client.get(link).content.decode()
    for wrong in ("x", "1", "é", "x" * 5000, link.rpartition("/")[2][:-1]):
        assert client.get(f"/apply/thanks/{wrong}").status_code == 404
    time_machine.move_to(NOW + timedelta(days=1, seconds=1), tick=False)
    assert client.get(link).status_code == 404


def test_page_shows_the_thanks_for_a_sent_application(client: Client, vacancy: Vacancy) -> None:
    """apply.js adds the reference to the URL.
    It is no secret, so that the page does not show the address.
    """
    post(client, vacancy, VALUES)
    reference = Application.objects.get().reference
    vacancy.publish_until = NOW
    vacancy.save()
    response = client.get(address(vacancy), {"sent": reference})
    html = response.content.decode()
    assert response.status_code == 200
    assert "Thank you for your application" in html
    assert f"<strong>{reference}</strong>" in html
    assert "zoe@example.com" not in html
    assert 'href="/vacancies/' not in html, "it has closed meanwhile"
    assert (response["Cache-Control"], response["Referrer-Policy"]) == (
        "private, no-store",
        "no-referrer",
    )

    other = make_vacancy(title="Other", publish_from=NOW)
    for wrong in ("", "x", "7K3QX9WD", "\0", "é", "x" * 5000):
        assert client.get(address(vacancy), {"sent": wrong}).status_code == 404
    assert client.get(address(other), {"sent": reference}).status_code == 404
