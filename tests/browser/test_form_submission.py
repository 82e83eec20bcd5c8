"""form.js sends an application: requests, retries, errors, changed forms, proofs. The API is a
stub, so that it can fail in every way; test_apply.py uses the real one.
"""

import base64
import hashlib
import json
from typing import Any

import altcha
import pytest

from tests.browser.form_renderer import (
    Sections,
    assert_accessible,
    checked,
    field,
    focused,
    open_page,
    served,
)

page = pytest.fixture(open_page)

FORM = "/v1/vacancies/412/form"
POST = "/v1/vacancies/412/applications"
RECEIVED = {
    "data": {"reference": "7K3QX9WD", "received_at": "2026-11-22 14:03:27", "version": "v1"}
}
APPLY = """async ([address, options]) => {
  window.told = [];
  window.form = await renderer.apply(document.querySelector("#form"), address,
    { ...options, onSent: (data) => told.push(data) });
}"""


class Api:
    """A stub of the API: it serves `sections`, and gives the next of
    `answers` to each submission.
    """

    def __init__(self, page: Any, sections: Sections, version: str = "v1") -> None:
        self.sections, self.version = sections, version
        # (status, body[, headers]), or the name of a failure of the network.
        self.answers: list[Any] = []
        self.requests: list[Any] = []
        self.headers: dict[str, str] = {}  # that /form adds or replaces
        self.loads = 0
        page.route(f"**{FORM}", self._form)
        page.route(f"**{FORM}/schema", self._schema)
        page.route(f"**{POST}", self._submit)

    def _form(self, route: Any) -> None:
        self.loads += 1
        headers = {
            "Form-Version": self.version,
            "Content-Language": "en",
            "Apply": POST,
        } | self.headers
        route.fulfill(json={"data": self.sections}, headers={k: v for k, v in headers.items() if v})

    def _schema(self, route: Any) -> None:
        route.fulfill(json={"data": {"version": self.version, "schema": checked(self.sections)}})

    def _submit(self, route: Any) -> None:
        self.requests.append(route.request)
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return route.abort(answer)
        status, body, *headers = answer
        kind = "application/json" if status == 201 else "application/problem+json"
        return route.fulfill(
            status=status,
            body=json.dumps(body),
            headers={"Content-Type": kind, **(headers[0] if headers else {})},
        )

    @property
    def keys(self) -> list[str]:
        return [request.headers["idempotency-key"] for request in self.requests]

    @property
    def documents(self) -> list[Any]:
        return [json.loads(request.post_data) for request in self.requests]


def small() -> Sections:
    return served(
        field("first_name", required=True),
        field("email", "email", required=True),
        field("cv", "file"),
        field("drives", "checkbox", conditional=[field("licence", on_value="1")]),
    )


@pytest.fixture
def api(page: Any) -> Api:
    return Api(page, small())


def start(page: Any, **options: Any) -> None:
    page.evaluate(APPLY, [FORM, options])


def fill_in(page: Any) -> None:
    page.get_by_label("Your first_name").fill("Zoë")
    page.get_by_label("Your email").fill("zoe@example.com")
    page.get_by_label("I agree").check()


def send(page: Any) -> None:
    page.get_by_role("button", name="Send application").click()


def thanks(page: Any) -> str:
    page.get_by_text("Thank you for your application").wait_for()
    return str(page.locator("#form").inner_text())


VALUES = {"first_name": "Zoë", "email": "zoe@example.com", "privacy_consent": "1"}


# --- requests ---


def test_without_files_the_body_is_json(page: Any, api: Api) -> None:
    api.answers = [(201, RECEIVED)]
    start(page, source="newsletter", headers={"Authorization": "Bearer abc"})
    fill_in(page)
    send(page)

    assert thanks(page).split("\n\n") == [
        "Thank you for your application",
        "Your reference: 7K3QX9WD",
        "You will receive an e-mail at zoe@example.com that lists everything we received.",
    ]
    assert focused(page) == "job-form job-form-thanks"
    assert_accessible(page)
    [request] = api.requests
    assert api.documents == [{"version": "v1", "values": VALUES, "source": "newsletter"}]
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"] == "Bearer abc"
    assert len(request.headers["idempotency-key"]) == 32
    assert page.evaluate("told") == [RECEIVED["data"]]


def test_with_files_the_body_is_multipart(page: Any, api: Api) -> None:
    api.answers = [(201, RECEIVED)]
    start(page)
    fill_in(page)
    page.get_by_label("Your cv").set_input_files(
        {"name": "çv.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-"}
    )
    send(page)

    thanks(page)
    [request] = api.requests
    assert request.headers["content-type"].startswith("multipart/form-data; boundary=")
    body = request.post_data_buffer.decode()
    assert body.count("form-data; name=") == 2
    assert 'name="application"\r\n\r\n{"version":"v1","values":{' in body
    assert '"cv":"çv.pdf"' in body
    assert 'name="cv"; filename="çv.pdf"\r\nContent-Type: application/pdf\r\n' in body


def test_invalid_answers_are_not_sent(page: Any, api: Api) -> None:
    start(page)
    send(page)
    assert page.get_by_role("alert").get_by_role("listitem").count() == 3
    assert api.requests == []


def test_hidden_files_are_not_sent(page: Any) -> None:
    api = Api(
        page,
        served(field("drives", "checkbox", conditional=[field("licence", "file", on_value="1")])),
    )
    api.answers = [(201, RECEIVED)]
    start(page)
    page.get_by_label("Your drives").check()
    page.get_by_label("Your licence").set_input_files(
        {"name": "a.pdf", "mimeType": "x/y", "buffer": b"%PDF-"}
    )
    page.get_by_label("Your drives").uncheck()
    page.get_by_label("I agree").check()
    send(page)
    thanks(page)
    assert api.documents == [{"version": "v1", "values": {"privacy_consent": "1"}}]


# --- what is wrong with the submission ---


def test_errors_of_the_server_are_at_the_fields_and_in_the_summary(page: Any, api: Api) -> None:
    errors = [
        {"pointer": "/values/email", "keyword": "pattern", "detail": "No mail server."},
        {"pointer": "/values/cv", "keyword": "virus", "detail": "This file has a virus."},
        {"pointer": "/source", "keyword": "maxLength", "detail": "Too long."},
    ]
    api.answers = [(422, {"status": 422, "detail": "3 errors", "errors": errors}), (201, RECEIVED)]
    start(page)
    fill_in(page)
    send(page)

    summary = page.get_by_role("alert")
    summary.wait_for()
    assert focused(page) == "job-form-summary"
    listed = summary.get_by_role("listitem")
    assert listed.all_inner_texts() == [
        "Your email – No mail server.",
        "Your cv – This file has a virus.",
        "Too long.",
    ]
    email = page.get_by_label("Your email")
    assert email.get_attribute("aria-invalid") == "true"
    assert email.evaluate(
        "node => node.ariaDescribedByElements.map((each) => each.textContent)"
    ) == ["No mail server."]
    assert page.get_by_label("Your cv").evaluate(
        "node => node.ariaDescribedByElements.map((each) => each.textContent)"
    ) == ["This file has a virus.", "PDF, DOCX, ODT, RTF, TXT, JPEG or PNG, at most 10 MB."]
    assert_accessible(page)

    listed.get_by_role("link").first.click()
    assert focused(page) == "email"
    page.keyboard.type("x")
    page.keyboard.press("Tab")  # its own error goes at once, the others stay
    listed.nth(1).wait_for(state="detached")
    assert listed.all_inner_texts() == ["Your cv – This file has a virus."]
    send(page)
    thanks(page)
    assert len(set(api.keys)) == 2, "other content, another key"


def test_a_filled_honeypot_is_emptied(page: Any, api: Api) -> None:
    """The password manager of a person may have filled it in."""
    errors = [
        {
            "pointer": "/values/contact_me_by_fax",
            "keyword": "x",
            "detail": "Leave this field empty.",
        }
    ]
    api.answers = [
        (422, {"detail": "The submission has 1 error.", "errors": errors}),
        (201, RECEIVED),
    ]
    start(page)
    fill_in(page)
    page.locator("[name=contact_me_by_fax]").evaluate("node => { node.value = 'x'; }")
    send(page)
    page.get_by_role("button", name="Try again").click()
    thanks(page)
    values = [document["values"] for document in api.documents]
    assert values == [{**VALUES, "contact_me_by_fax": "x"}, VALUES]


def test_honeypot_is_hidden_from_people(page: Any, api: Api) -> None:
    start(page)
    trap = page.locator("[name=contact_me_by_fax]")
    assert (trap.get_attribute("tabindex"), trap.get_attribute("autocomplete")) == ("-1", "off")
    # For screen readers.
    assert page.get_by_role("textbox", name="Leave this field empty").count() == 0
    box = trap.locator("..").bounding_box()
    assert (box["width"], box["height"]) == (1, 1)


def test_large_files_are_announced_before_they_are_sent(page: Any, api: Api) -> None:
    start(page)
    fill_in(page)
    cv = page.get_by_label("Your cv")
    # Playwright refuses large files; the page makes one.
    choose = """(node, size) => {
      const chosen = new DataTransfer();
      chosen.items.add(new File([new Uint8Array(size)], "cv.pdf"));
      node.files = chosen.files;
      node.dispatchEvent(new Event("change", { bubbles: true }));
    }"""
    cv.evaluate(choose, 10 * 2**20 + 1)
    text = "This file is too large. Please choose one of at most 10 MB."
    assert page.locator("[data-name=cv] .job-form-error").inner_text() == text
    assert page.get_by_role("status").all_inner_texts()[0] == f"Your cv: {text}"
    send(page)
    assert page.get_by_role("alert").get_by_role("listitem").all_inner_texts() == [
        f"Your cv – {text}"
    ]
    cv.evaluate(choose, 10 * 2**20)
    assert page.locator("[data-name=cv] .job-form-error").is_hidden()
    assert page.get_by_role("alert").count() == 0
    assert api.requests == []


def test_files_that_are_too_large_together_are_not_sent(page: Any) -> None:
    api = Api(page, served(*(field(name, "file") for name in "abc")))
    start(page)
    page.get_by_label("I agree").check()
    for name in "abc":
        page.locator(f"[name={name}]").evaluate(
            """(node) => {
              const chosen = new DataTransfer();
              chosen.items.add(new File([new Uint8Array(9 * 2 ** 20)], "cv.pdf"));
              node.files = chosen.files;
            }"""
        )
    send(page)
    text = "Your files are larger than 25 MB together. Choose smaller files."
    assert text in page.get_by_role("alert").inner_text()
    assert api.requests == []


# --- what is wrong with the site or the network ---


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((500, {"detail": "Oops"}), "The site cannot receive your application at the moment."),
        (
            (503, {}, {"Retry-After": "60"}),
            "The site cannot receive your application at the moment.",
        ),
        ((502, "<html>"), "The site cannot receive your application at the moment."),
        ("connectionreset", "The connection was lost. You can safely send again"),
        ("timedout", "The connection was lost. You can safely send again"),
        (
            (404, {"detail": "There is no such vacancy."}),
            "This vacancy no longer accepts applications.",
        ),
        (
            (429, {"detail": "Slow down"}, {"Retry-After": "700"}),
            "There were too many attempts. Try again in 12 min.",
        ),
        ((413, "<html>"), "Your files are larger than 25 MB together."),
    ],
)
def test_after_a_failure_everything_is_kept_and_the_key_is_the_same(
    page: Any, api: Api, answer: Any, text: str
) -> None:
    api.answers = [answer, (201, RECEIVED)]
    api.headers = {"Access-Control-Expose-Headers": "Apply"}
    start(page)
    fill_in(page)
    send(page)

    failure = page.get_by_role("alert")
    failure.wait_for()
    assert focused(page) == "job-form-failure"
    assert text in failure.inner_text()
    assert "Everything you filled in is still here." in failure.inner_text()
    assert page.get_by_label("Your first_name").input_value() == "Zoë"
    assert_accessible(page)
    page.get_by_role("button", name="Try again").click()
    thanks(page)
    assert api.documents[0] == api.documents[1]
    is_refused = answer[0] == 413
    assert len(set(api.keys)) == (2 if is_refused else 1)


def test_another_content_has_another_key(page: Any, api: Api) -> None:
    api.answers = ["connectionreset", "connectionreset", (201, RECEIVED)]
    start(page)
    fill_in(page)
    send(page)
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("button", name="Try again").wait_for()
    page.get_by_label("Your first_name").fill("Zoé")
    send(page)
    thanks(page)
    assert api.keys[0] == api.keys[1] != api.keys[2]


def test_a_server_that_does_not_answer_is_given_up(page: Any, api: Api) -> None:
    page.unroute(f"**{POST}")
    page.route(f"**{POST}", lambda route: None)
    start(page, timeout=300)
    fill_in(page)
    send(page)
    page.get_by_text("The connection was lost.").wait_for()
    assert page.get_by_label("Your first_name").input_value() == "Zoë"


def test_offline_is_said_and_the_same_application_is_sent_later(page: Any, api: Api) -> None:
    api.answers = [(201, RECEIVED)]
    start(page)
    fill_in(page)
    page.context.set_offline(True)
    page.unroute(f"**{POST}")  # a route would answer although the browser is offline
    send(page)
    page.get_by_text("You are offline. Try again when you are connected.").wait_for()
    page.context.set_offline(False)
    page.route(f"**{POST}", api._submit)
    page.get_by_role("button", name="Try again").click()
    thanks(page)
    assert api.documents == [{"version": "v1", "values": VALUES}]


def test_short_waits_are_done_without_asking(page: Any, api: Api) -> None:
    wait = {"Retry-After": "1"}
    api.answers = [(409, {}, wait), (503, {}, wait), (201, RECEIVED)]
    start(page)
    fill_in(page)
    send(page)
    page.get_by_text("The site is busy.").wait_for()
    assert (
        page.get_by_role("button", name="Send application").get_attribute("aria-disabled") == "true"
    )
    page.keyboard.press("Enter")  # a second click on the button sends nothing
    thanks(page)
    assert len(api.requests) == 3
    assert len(set(api.keys)) == 1


def test_a_server_that_stays_busy_is_not_asked_forever(page: Any, api: Api) -> None:
    api.answers = [(409, {}, {"Retry-After": "0"})] * 6
    start(page)
    fill_in(page)
    send(page)
    page.get_by_role("button", name="Try again").wait_for()
    assert len(api.requests) == 6


def test_a_file_that_changed_on_the_disk_is_blamed(page: Any, api: Api, tmp_path: Any) -> None:
    file = tmp_path / "cv.pdf"
    file.write_bytes(b"%PDF-")
    start(page)
    fill_in(page)
    page.get_by_label("Your cv").set_input_files(file)
    file.unlink()
    page.unroute(f"**{POST}")
    send(page)
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").get_by_role("listitem").all_inner_texts() == [
        "Your cv – This file has changed or cannot be read. Please choose it again."
    ]


# --- proof of work ---


def proof_required(number: int, most: int = 50_000) -> tuple[int, dict[str, Any]]:
    made = altcha.create_challenge_v1(
        algorithm="SHA-256",
        max_number=most,
        salt_length=12,
        hmac_key="key",
        salt="",
        number=number,
        expires=None,
        params={"vacancy": "412"},
    )
    return 429, {"proof_required": True, "challenge": made.to_dict()}


def is_solved(proof: str) -> bool:
    return altcha.verify_solution_v1(proof, "key", check_expires=False)[0]


@pytest.mark.parametrize("number", [0, 31_337, 50_000])
def test_a_proof_is_solved_in_a_worker_and_sent(page: Any, api: Api, number: int) -> None:
    workers: list[str] = []
    page.on("worker", lambda worker: workers.append(worker.url))
    api.answers = [proof_required(number), (201, RECEIVED)]
    start(page)
    fill_in(page)
    send(page)
    thanks(page)
    first, second = api.documents
    assert is_solved(second.pop("proof"))
    assert first == second
    assert api.keys[0] == api.keys[1]
    assert [url.rpartition("/")[2] for url in workers] == ["proof-worker.js"]


def test_without_a_worker_the_page_solves_it(page: Any, api: Api) -> None:
    """The scripts of another origin cannot start one."""
    page.evaluate(
        """() => {
          window.Worker = class { constructor() { throw new Error('cross-origin'); } };
          window.shown = [];
          new MutationObserver(() => window.shown.push(document.body.textContent))
            .observe(document.body, { childList: true, characterData: true, subtree: true });
        }"""
    )
    api.answers = [proof_required(12_345), (201, RECEIVED)]
    start(page)
    fill_in(page)
    send(page)
    thanks(page)
    assert any("solving a small task" in text for text in page.evaluate("window.shown"))
    assert is_solved(api.documents[1]["proof"])


def test_a_used_proof_is_solved_again(page: Any, api: Api) -> None:
    api.answers = [proof_required(5), proof_required(7), (201, RECEIVED)]
    start(page)
    fill_in(page)
    send(page)
    thanks(page)
    decoded = [json.loads(base64.b64decode(each["proof"]))["number"] for each in api.documents[1:]]
    assert decoded == [5, 7]


@pytest.mark.parametrize(
    "challenge",
    [
        None,
        {},
        {"algorithm": "SHA-512"},
        {"algorithm": "SHA-256", "challenge": "ab", "maxNumber": 9},
    ],
)
def test_a_challenge_without_a_solution_is_a_failure(page: Any, api: Api, challenge: Any) -> None:
    api.answers = [(429, {"proof_required": True, "challenge": challenge})] * 6
    start(page)
    fill_in(page)
    send(page)
    page.get_by_role("button", name="Try again").wait_for()
    assert page.get_by_label("Your first_name").input_value() == "Zoë"


def test_digests_are_those_of_sha_256(page: Any) -> None:
    """Of every length up to three blocks."""
    found = page.evaluate(
        """async () => {
          const { digest } = await import("/static/forms_structure/form/sha256.js");
          const hex = (word) => (word >>> 0).toString(16).padStart(8, "0");
          const bytes = (n) => new Uint8Array(n).map((_, i) => i * 7 + n);
          return Array.from({ length: 200 }, (_, n) => Array.from(digest(bytes(n)), hex).join(""));
        }"""
    )
    assert found == [
        hashlib.sha256(bytes((i * 7 + n) % 256 for i in range(n))).hexdigest() for n in range(200)
    ]


# --- a form that was edited meanwhile ---


CHANGED = {"form_changed": True, "detail": "The form has changed."}


def test_a_changed_form_is_loaded_again_and_keeps_what_fits(page: Any, api: Api) -> None:
    gone = {
        "pointer": "/values/licence",
        "keyword": "unevaluatedProperties",
        "detail": "Not in the form.",
    }
    api.answers = [(422, {**CHANGED, "errors": [gone]}), (201, RECEIVED)]
    start(page)
    fill_in(page)
    page.get_by_label("Your cv").set_input_files(
        {"name": "cv.pdf", "mimeType": "x/y", "buffer": b"%PDF-"}
    )
    page.get_by_label("Your drives").check()
    page.get_by_label("Your licence").fill("B")
    fields = api.sections[0]["fields"]
    assert [each["name"] for each in fields] == [
        "first_name",
        "email",
        "cv",
        "drives",
        "privacy_consent",
    ]
    api.sections = served(
        field("first_name", required=True, label="First name"),
        field("email", "email", required=True, css="col-6"),
        field("cv", "file"),
        field("drives", "checkbox"),
        field("city", required=True),
    )
    api.version = "v2"
    send(page)

    notice = page.locator(".job-form-notice")
    notice.wait_for()
    assert focused(page) == "job-form-notice"
    assert [line for line in notice.inner_text().split("\n") if line] == [
        "The form has changed since you opened it. Check your answers, then send it again.",
        "Changed: First name",
        "New: Your city",
        "No longer asked: Your licence",
    ]
    assert_accessible(page)
    assert page.evaluate("document.querySelector('[type=file]').files[0].name") == "cv.pdf"
    assert page.get_by_label("Your drives").is_checked()
    assert page.get_by_label("I agree").is_checked(), "the same consent"
    notice.get_by_role("link", name="Your city").click()
    assert focused(page) == "city"
    page.keyboard.type("Ghent")
    send(page)
    thanks(page)
    body = api.requests[1].post_data_buffer.decode()
    assert (
        '{"version":"v2","values":{"first_name":"Zoë","email":"zoe@example.com","cv":"cv.pdf","drives":"1"'
        in body
    )
    assert len(set(api.keys)) == 2


def test_another_consent_has_to_be_given_again(page: Any, api: Api) -> None:
    api.answers = [(422, {**CHANGED, "errors": []})]
    start(page)
    fill_in(page)
    api.sections[0]["fields"][-1] |= {"label": "I agree with something else.", "version": 2}
    api.version = "v2"
    send(page)
    page.locator(".job-form-notice").wait_for()
    assert not page.get_by_label("I agree with something else.").is_checked()
    assert page.get_by_label("Your first_name").input_value() == "Zoë"


def test_a_changed_form_that_cannot_be_loaded_keeps_the_old_one(page: Any, api: Api) -> None:
    api.answers = [(422, {**CHANGED, "errors": []})]
    start(page)
    fill_in(page)
    api.headers = {"Apply": ""}
    send(page)
    page.get_by_role("button", name="Try again").wait_for()
    assert page.get_by_label("Your first_name").input_value() == "Zoë"


# --- loading ---


@pytest.mark.parametrize("failure", ["404", "no Apply", "network"])
def test_a_form_that_cannot_be_loaded_leaves_the_page_as_it_is(
    page: Any, api: Api, failure: str
) -> None:
    page.evaluate("document.querySelector('#form').innerHTML = '<p>As it was</p>'")
    if failure == "404":
        page.route(f"**{FORM}", lambda route: route.fulfill(status=404, json={}))
    elif failure == "network":
        page.route(f"**{FORM}", lambda route: route.abort())
    else:
        api.headers = {"Apply": ""}
    status = page.evaluate(
        """(address) => renderer.apply(document.querySelector("#form"), address)
             .then(() => "loaded", (error) => error.status ?? error.message)""",
        FORM,
    )
    expected = {
        "404": 404,
        "no Apply": "This vacancy accepts no applications here.",
        "network": "Failed to fetch",
    }
    assert status == expected[failure]
    assert page.locator("#form").inner_text() == "As it was"


def test_a_form_that_is_edited_between_the_two_requests_is_loaded_again(
    page: Any, api: Api
) -> None:
    api.headers = {"Form-Version": "v0"}

    def current(route: Any) -> None:
        api._form(route)
        api.headers = {}

    page.route(f"**{FORM}", current)
    start(page)
    assert api.loads == 2
    assert page.get_by_label("Your email").is_visible()


def test_answers_of_an_earlier_form_are_kept(page: Any, api: Api) -> None:
    """The server rendered it, and it was filled in before the script arrived."""
    page.evaluate(
        """document.querySelector("#form").innerHTML = `<form><input type="hidden" name="_nonce" value="x">
          <input name="first_name" value="Zoë"><input type="file" name="cv">
          <input type="checkbox" name="drives" value="1" checked><input name="licence" value="B"></form>`"""
    )
    page.locator("[name=cv]").set_input_files(
        {"name": "cv.pdf", "mimeType": "x/y", "buffer": b"%PDF-"}
    )
    start(page)
    assert page.evaluate("form.values()") == {
        "first_name": "Zoë",
        "cv": "cv.pdf",
        "drives": "1",
        "licence": "B",
    }
    assert page.get_by_role("alert").count() == 0
