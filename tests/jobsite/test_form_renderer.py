"""What is rendered without a template has the markup of the templates of Django and unfold."""

from copy import deepcopy
from typing import Any

import pytest
from django import forms
from django.forms.renderers import TemplatesSetting
from django.test.html import parse_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy
from unfold import widgets
from unfold.fields import UnfoldAdminField

from jobsite.form_renderer import FormRenderer

TEXT = """<b>"a" & 'b'</b>"""
ATTRS = {"data-a": TEXT, "required": True, "disabled": False, "title": gettext_lazy("Name"), "n": 5}
CHOICES = [
    ("", gettext_lazy("None")),
    (1, TEXT),
    ("Group <i>", [("2", SafeString("<em>2</em>")), (TEXT, "3")]),
]
PLAIN = (
    forms.TextInput(ATTRS),
    forms.NumberInput(),
    forms.EmailInput(),
    forms.URLInput(),
    forms.HiddenInput(),
    forms.PasswordInput(),
    forms.CheckboxInput(),
    widgets.UnfoldAdminTextInputWidget(ATTRS),
    widgets.UnfoldAdminTextInputWidget({"prefix": "€"}),
    widgets.UnfoldAdminDecimalFieldWidget(),
    forms.Select(ATTRS, CHOICES),
    forms.SelectMultiple(ATTRS, CHOICES),
    widgets.UnfoldAdminSelectWidget(ATTRS, CHOICES),
    widgets.UnfoldAdminRadioSelectWidget(choices=CHOICES),
    forms.Textarea(ATTRS),
)


@pytest.mark.parametrize("value", [None, "", "1", TEXT, True])
@pytest.mark.parametrize("widget", PLAIN, ids=lambda widget: type(widget).__name__)
def test_widget_has_the_markup_of_its_template(widget: Any, value: Any) -> None:
    chosen = [value] if isinstance(widget, forms.SelectMultiple) else value
    ours, theirs = (  # unfold's widgets use their prefix up
        deepcopy(widget).render(f"name{TEXT}", chosen, {"id": "id_name"}, renderer)
        for renderer in (FormRenderer(), TemplatesSetting())
    )

    assert parse_html(ours) == parse_html(theirs)
    assert isinstance(ours, SafeString)


class Named(forms.Form):
    name = forms.CharField(label=TEXT)
    is_new = forms.BooleanField(required=False)


def test_labels_and_errors_have_the_markup_of_their_templates() -> None:
    for data in ({}, {"name": "Mia"}):
        ours, theirs = (
            [
                part
                for field in Named(data, renderer=renderer)
                for part in (
                    parse_html(field.label_tag(attrs={"class": TEXT})),
                    parse_html(field.legend_tag()),
                    parse_html(str(field.errors)),
                    parse_html(field.errors.as_ul()),
                    parse_html(UnfoldAdminField(field.form, field.name, is_first=True).label_tag()),
                )
            ]
            for renderer in (FormRenderer(), TemplatesSetting())
        )
        assert ours == theirs
