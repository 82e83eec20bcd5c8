"""The items of a list of applicants, without a template for each: there can be 20,000."""

from collections.abc import Iterable

from django.template import Library
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from applications.models import Application

register = Library()


@register.filter
def as_items(people: Iterable[Application]) -> SafeString:
    withdrawn = format_html(
        ' <span class="panel-state is-withdrawn">{}</span>', gettext("Withdrawn")
    )
    stages: dict[str, str] = {"": ""}
    rows = []
    for each in people:
        stage = getattr(each, "stage_name", None) or ""
        if stage not in stages:
            stages[stage] = format_html(' <span class="panel-state">{}</span>', each.stage_label)
        mark = withdrawn if each.withdrawn_at else ""
        rows.append((each.display_name, each.vacancy.title, stages[stage], mark))
    return format_html_join("\n", "<li><b>{}</b> – {}{}{}</li>", rows)
