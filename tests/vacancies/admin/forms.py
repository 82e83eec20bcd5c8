"""Read and post the admin's pages of vacancies, as a browser without JavaScript does."""

import json
import re
from datetime import UTC, datetime
from html import unescape
from typing import Any
from unittest import mock

from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import FileInput, Select
from django.template.response import TemplateResponse
from django.test import Client

from tests.applications.makers import signed_in
from tests.messages import messages_of
from tests.vacancies.sample_files import encoded
from vacancies.admin.edit.form_input import widget_of
from vacancies.models import Vacancy

LIST = "/admin/vacancies/vacancy/"
ADD = f"{LIST}add/"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
NO_ROWS = {
    f"{prefix}-{name}": "0"
    for prefix in ("places", "recruiter_links", "attachments")
    for name in ("TOTAL_FORMS", "INITIAL_FORMS")
}
VIEWER = ("view_vacancy", "work_for_every_brand")


def staff(name: str, *rights: str, brands: Any = ()) -> Client:
    """Sign in a new user with these permissions, who is a member of `brands`."""
    user = User.objects.create_user(name, is_staff=True, first_name=name.title())
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    user.brands.add(*brands)
    return signed_in(user)


def page(vacancy: Vacancy) -> str:
    return f"{LIST}{vacancy.pk}/change/"


def opened(client: Client, url: str) -> dict[str, Any]:
    """Return what a browser posts from the form at `url` if nothing is changed. The page of a
    stored vacancy contains that, if it has no restored input. Then it is not rendered, which takes
    most of the time.
    """
    render = TemplateResponse.rendered_content.fget  # type: ignore[attr-defined]
    lazy = property(
        lambda response: "" if is_contained(response.context_data) else render(response)
    )
    with mock.patch.object(TemplateResponse, "rendered_content", lazy):
        response = client.get(url)
    context = response.context_data
    return contained(context) if is_contained(context) else posted_by(response.content.decode())


def is_contained(context: dict[str, Any]) -> bool:
    return bool(context.get("base")) and not context["is_unsaved"]


def contained(context: dict[str, Any]) -> dict[str, Any]:
    """Return what `posted_by` returns of the page. test_conflict.py compares both."""
    formsets = [each.formset for each in context["inline_admin_formsets"]]
    rows = [context["adminform"].form, *(row for formset in formsets for row in formset.forms)]
    widgets = {bound.html_name: widget_of(bound.field) for row in rows for bound in row}
    data: dict[str, Any] = {name: context[name] for name in ("base", "page")}
    for name, values in json.loads(context["base"]).items():
        if values and not isinstance(widgets.get(name), FileInput):
            is_list = isinstance(widgets.get(name), Select)
            data[name] = values if is_list else re.sub("\r?\n", "\r\n", values[0])
    return data


def posted_by(html: str) -> dict[str, Any]:
    """Return what a browser posts from the form in `html` if nothing is changed."""
    html = html[re.search(r'id="\w+_form"', html).start() :].partition("</form>")[0]  # type: ignore[union-attr]
    data: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", html):
        fields = {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        kind = fields.get("type", "text")
        if (
            "name" in fields
            and kind not in {"submit", "file"}
            and (kind not in {"checkbox", "radio"} or re.search(r"\schecked[\s>]", tag))
        ):
            data[fields["name"]] = fields.get("value", "on" if kind == "checkbox" else "")
    for name, text in re.findall(
        r'<textarea[^>]*\sname="([\w-]+)"[^>]*>\n?(.*?)</textarea>', html, re.S
    ):
        data[name] = unescape(text).replace("\r\n", "\n").replace("\n", "\r\n")
    for name, body in re.findall(r'<select[^>]*\sname="([\w-]+)"[^>]*>(.*?)</select>', html, re.S):
        chosen = re.findall(r'<option value="([^"]*)"[^>]* selected', body)
        if chosen:
            data[name] = chosen
    return data


def errors(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def saved(response: Any) -> bool:
    return response.status_code == 302


def texts(response: Any) -> list[str]:
    """Return the messages of a response, without the markup of buttons."""
    return [re.sub("<.*>", "", message).strip() for message in messages_of(response)]


def ask(client: Client, action: str, vacancies: list[Vacancy]) -> Any:
    """Return the page that asks before a bulk action, or the list if the action is not offered."""
    data = {
        "action": f"{action}_selected",
        "_selected_action": [vacancy.pk for vacancy in vacancies],
    }
    return client.post(LIST, data, follow=True)


def run(client: Client, action: str, vacancies: list[Vacancy], **values: str) -> list[str]:
    """Run a bulk action and confirm it. Return the messages, without the markup of buttons."""
    page = ask(client, action, vacancies)
    if "selection" in page.context:
        sent = {"vacancies": str(page.context["selection"]), "back": LIST, **values}
        page = client.post(f"{LIST}bulk/{action}/", sent)
    return texts(page)


def listed(client: Client, url: str) -> set[int]:
    return {vacancy.pk for vacancy in changelist(client, url).queryset}


def changelist(client: Client, url: str, query: Any = None) -> Any:
    """Return the changelist of a page, which is not rendered."""
    with mock.patch.object(TemplateResponse, "rendered_content", ""):
        return client.get(url, query).context_data["cl"]


def picture(name: str, kind: str, size: tuple[int, int] = (400, 300)) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, encoded(kind, "1" if kind != "WEBP" else "RGB", size))
