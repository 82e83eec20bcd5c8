"""Help texts are escaped on the pages of the admin and of accounts, although the theme prints them
as is.
"""

from typing import Any

import pytest
from django import forms
from django.template.loader import render_to_string
from django.test import Client
from django.utils.html import format_html
from pytest_django.asserts import assertContains, assertNotContains

from forms_structure.models import Form
from tests.factories import make_vacancy

NAME = """<i x-data x-init="pwned()">"a" & 'b'</i>"""
ESCAPED = "&lt;i x-data x-init=&quot;pwned()&quot;&gt;&quot;a&quot; &amp; &#x27;b&#x27;&lt;/i&gt;"


class Questions(forms.Form):
    name = forms.CharField(help_text=NAME)


@pytest.mark.django_db
def test_help_text_is_escaped_unless_it_is_marked_safe(rf: Any) -> None:
    for text, expected in ((NAME, ESCAPED), (format_html("<b>{}</b>", NAME), f"<b>{ESCAPED}</b>")):
        form = Questions()
        form.fields["name"].help_text = text
        for template in ("unfold/helpers/help_text.html", "registration/form.html"):
            html = render_to_string(template, {"help_text": text, "form": form}, rf.get("/"))
            assert (expected in html, "<i x-data" in html) == (True, False), template


@pytest.mark.slow("opens many pages")
def test_vacancy_shows_the_name_of_its_form_as_text(admin_client: Client, filters: Any) -> None:
    vacancy = make_vacancy(form=Form.objects.create(name=NAME))

    page = admin_client.get(f"/admin/vacancies/vacancy/{vacancy.pk}/change/")

    assertContains(page, f"Applicants currently get “{ESCAPED}”.")
    assertNotContains(page, "<i x-data")
    # Rules for passwords are still a list.
    for url in ("/account/password", "/admin/auth/user/add/?account"):
        assertContains(admin_client.get(url), "<ul><li>")
