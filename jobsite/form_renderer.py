"""Renders inputs, options and labels of forms without a template for each.

A form of the admin has some hundred of them. The markup is that of the templates of Django and unfold.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from django.forms.renderers import TemplatesSetting
from django.template import Library
from django.utils.functional import Promise
from django.utils.safestring import SafeString

register = Library()
INPUTS = {
    f"django/forms/widgets/{name}.html"
    for name in ("input", "text", "number", "email", "url", "hidden", "password", "checkbox")
}
SELECTS = {"django/forms/widgets/select.html", "unfold/widgets/select.html"}
OPTION = "django/forms/widgets/select_option.html"
TEXT = "unfold/widgets/text.html"
TEXT_CLASS = "max-w-2xl relative w-full"
BESIDE = ("prefix", "prefix_icon", "suffix", "suffix_icon")  # of a text, on which TEXT spends most
ERRORS = {f"django/forms/errors/list/{name}.html" for name in ("default", "ul")}


class FormRenderer(TemplatesSetting):
    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        if template_name in INPUTS:
            return input_html(context["widget"])
        if template_name == TEXT and not any(context["widget"].get(part) for part in BESIDE):
            return SafeString(f'<div class="{TEXT_CLASS}">{input_html(context["widget"])}</div>')
        if template_name in SELECTS:
            return self._select(template_name, context, request)
        if template_name == "django/forms/label.html" and context["use_tag"]:
            tag, attrs = context["tag"], attributes(context["attrs"] or {})
            return SafeString(f"<{tag}{attrs}>{escaped(context['label'])}</{tag}>")
        if template_name in ERRORS and not context["errors"]:
            return SafeString("")
        return super().render(template_name, context, request)

    def _select(self, template_name: str, context: dict[str, Any], request: Any) -> str:
        """Return the select of the template with the options."""
        widget = context["widget"]
        groups = widget["optgroups"]
        if any(each["template_name"] != OPTION for _name, group, _at in groups for each in group):
            return super().render(template_name, context, request)
        empty = super().render(
            template_name, context | {"widget": widget | {"optgroups": []}}, request
        )
        start, end, rest = empty.partition("</select>")
        return SafeString(f"{start}{options_html(groups)}{end}{rest}")


def escaped(value: object) -> str:
    """Return `value` as HTML: as it is if it is safe, as templates do."""
    if type(value) is str:
        return escape(value)
    if isinstance(value, Promise):
        value = str(value)
    return value.__html__() if hasattr(value, "__html__") else escape(str(value))


@register.filter("as_attributes")
def attributes(attrs: Mapping[str, object]) -> SafeString:
    return SafeString(
        "".join(
            f" {escaped(name)}" if value is True else f' {escaped(name)}="{escaped(value)}"'
            for name, value in attrs.items()
            if value is not False
        )
    )


def input_html(widget: Mapping[str, Any]) -> str:
    value = widget["value"]
    shown = "" if value is None else f' value="{escaped(value)}"'
    kind, name = escaped(widget["type"]), escaped(widget["name"])
    return SafeString(f'<input type="{kind}" name="{name}"{shown}{attributes(widget["attrs"])}>')


def options_html(groups: Iterable[tuple[Any, list[dict[str, Any]], int]]) -> str:
    """Return the options of a select, for `optgroups` of its widget."""
    parts = []
    for name, group, _index in groups:
        options = "".join(
            f'<option value="{escaped(each["value"])}"{attributes(each["attrs"]) if each["attrs"] else ""}>'
            f"{escaped(each['label'])}</option>"
            for each in group
        )
        parts.append(f'<optgroup label="{escaped(name)}">{options}</optgroup>' if name else options)
    return "".join(parts)
