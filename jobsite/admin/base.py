"""The base classes of the admin's pages."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME, InlineAdminFormSet
from django.contrib.messages.storage import default_storage
from django.core.exceptions import BadRequest, ValidationError
from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.forms import BaseModelForm
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import URLPattern, reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin, TabularInline

from jobsite.admin.active_filters import active_filters
from jobsite.admin.datetime_fields import ZonedDateTimesAdmin
from jobsite.admin.pages import AdminPages
from jobsite.db.transactions import retry_on_conflict
from jobsite.fields import PastedEmailField
from jobsite.text.search import search_words
from jobsite.types import Context


def posted_again(request: HttpRequest, *left_out: str) -> list[tuple[str, str]]:
    """Return the posted names and values, for the hidden fields of a page that posts them again,
    without the token and those `left_out`.
    """
    pairs = [(name, value) for name, values in request.POST.lists() for value in values]
    return [
        (name, value) for name, value in pairs if name not in ("csrfmiddlewaretoken", *left_out)
    ]


class NamedRow(forms.ModelForm):
    """A table row whose inputs have labels:
    screen readers do not read the column heading as the label.
    """

    nested_formsets = ()  # the templates of unfold ask for them at every cell

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            # Unwraps RelatedFieldWidgetWrapper.
            wrapped = getattr(field.widget, "widget", field.widget)
            for widget in getattr(wrapped, "widgets", [wrapped]):
                if not widget.is_hidden:
                    widget.attrs["aria-label"] = str(field.label or name)


class InlineFormSet(InlineAdminFormSet):
    """An inline whose button reads "Add attachment" instead of "Add another Attachment"."""

    def __init__(self, inline: InlineAdminFormSet) -> None:
        super().__init__(
            inline.opts,
            inline.formset,
            inline.fieldsets,
            inline.prepopulated_fields,
            inline.readonly_fields,
            inline.model_admin,
            inline.has_add_permission,
            inline.has_change_permission,
            inline.has_delete_permission,
            inline.has_view_permission,
        )

    def __iter__(self) -> Iterator[Any]:
        """Return the rows, which a page reads five times: unfold makes an empty form each time."""
        return iter(self.rows)

    @cached_property
    def rows(self) -> list[Any]:
        return list(super().__iter__())

    @property
    def media(self) -> forms.Media:
        """Return that of the rows, which all have the same. Django adds it up row by row."""
        return self.opts.media + self.formset.media

    def inline_formset_data(self) -> str:
        data = json.loads(super().inline_formset_data())
        data["options"]["addText"] = capfirst(_("Add %(name)s") % {"name": self.opts.verbose_name})
        return json.dumps(data)


class ValidateIdsMixin:
    """Reject invalid ids in requests with 400. Django passes them to the database, which fails."""

    def check_ids(self, request: HttpRequest, sent: QueryDict) -> None:
        of_inlines = [inline.model._meta for inline in self.get_inlines(request, None)]  # type: ignore[attr-defined]
        metas = [self.opts, *of_inlines]  # type: ignore[attr-defined]
        own = {
            f.name for meta in metas for f in (*meta.fields, *meta.many_to_many) if f.is_relation
        }
        for name, values in sent.lists():
            if name.rpartition("-")[2] in own and any(
                value and as_id(value) is None for value in values
            ):
                raise BadRequest(f"{name} is not a valid id.")

    def changeform_view(
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> HttpResponse:
        self.check_ids(request, request.GET)
        self.check_ids(request, request.POST)
        view = super().changeform_view  # type: ignore[misc]
        if request.method != "POST":
            return view(request, *args, **kwargs)

        def post() -> HttpResponse:
            request._messages = default_storage(request)  # type: ignore[attr-defined] # drops those of a failed attempt
            return view(request, *args, **kwargs)

        # A concurrent request may take the same name or delete a chosen row between validation and
        # save. Then the form is validated again and shows the error.
        return retry_on_conflict(post)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        if "\0" in object_id:  # PostgreSQL rejects NUL in text
            return None
        return super().get_object(request, object_id, from_field)  # type: ignore[misc]

    # Django 6.1 adds `action_location`.
    def response_action(
        self, request: HttpRequest, queryset: QuerySet, *args: object, **options: object
    ) -> HttpResponse | None:
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        is_number = isinstance(self.opts.pk, models.IntegerField)  # type: ignore[attr-defined]
        if any("\0" in pk or (is_number and as_id(pk) is None) for pk in chosen):
            raise BadRequest("The selection contains an invalid id.")
        return super().response_action(request, queryset, *args, **options)  # type: ignore[misc]


def action_parameters(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the parameters of a changelist action, for the form that confirms it."""
    names = ("action", "select_across", "index", ACTION_CHECKBOX_NAME)
    return [(name, value) for name in names for value in request.POST.getlist(name)]


class JobsiteAdmin(ValidateIdsMixin, ZonedDateTimesAdmin, ModelAdmin):
    """The base of all admin pages.
    Its changelist is titled "Brands" instead of "Select brand to change".
    """

    page_classes: tuple[type[AdminPages], ...] = ()  # the pages beside the list and the form
    warn_unsaved_form = True
    list_per_page = 50
    list_filter_sheet = True  # filters open over the list, also on wide screens
    list_links_template = ""  # beside the search
    formfield_overrides: dict[Any, Any] = {models.EmailField: {"form_class": PastedEmailField}}
    # A template asks for it 44 times, and slowly if there is none.
    conditional_fields: dict[str, str] = {}

    def get_urls(self) -> list[URLPattern]:
        pages = [url for page in self.page_classes for url in page(self).urls()]
        pages.sort(key=lambda url: "<path:" in str(url.pattern))  # last: it matches everything
        return [*pages, *super().get_urls()]

    def get_actions(
        self, request: HttpRequest, *args: object, action_location: object = None, **options: object
    ) -> dict:
        """Put "Delete" last, where nobody chooses it by mistake.
        Django 6.1 passes `action_location`.
        """
        where = {} if action_location is None else {"action_location": action_location}
        actions = super().get_actions(request, *args, **where, **options)
        if delete := actions.pop("delete_selected", None):
            actions["delete_selected"] = delete
        return actions

    def lookup_allowed(self, lookup: str, value: object, request: HttpRequest) -> bool:
        """Allow only the lookups of the page's filters.
        A regex lookup in the URL could run for minutes.
        """
        name, _, rest = lookup.partition("__")
        filters = {getattr(f, "parameter_name", f) for f in self.list_filter}
        return name in filters and rest in ("", "exact", "isnull", "id__exact")

    def choice_label(self, row: object) -> str:
        """Return the text of `row` in a field or filter that searches for rows."""
        return str(row)

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Search without case and accents, except in fields with a prefix of
        Django's, such as "=".
        """
        names = super().get_search_fields(request)
        return [
            name if name.startswith(("=", "^", "@")) else f"{name}__folded_contains"
            for name in names
        ]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """Return the rows that `find` finds.
        A search with too many words finds nothing, and says so.
        """
        try:
            return self.find(request, queryset, search_term)
        except ValidationError as error:
            if request.resolver_match and request.resolver_match.url_name != "autocomplete":
                self.message_user(request, error.message, messages.ERROR)
            return queryset.none(), False

    def find(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """Return the rows with the words of `search_term`, and whether they may repeat. Raise
        ValidationError if the words are too many.
        """
        return super().get_search_results(request, queryset, " ".join(search_words(search_term)))

    def get_inline_formsets(self, *args: object, **kwargs: object) -> list:
        return [InlineFormSet(each) for each in super().get_inline_formsets(*args, **kwargs)]

    def get_changelist_form(self, request: HttpRequest, **kwargs: object) -> type[BaseModelForm]:
        return super().get_changelist_form(request, **{"form": NamedRow} | kwargs)

    def changelist_view(
        self, request: HttpRequest, extra_context: Context | None = None
    ) -> HttpResponse:
        title = capfirst(str(self.opts.verbose_name_plural))
        response = super().changelist_view(request, {"title": title} | (extra_context or {}))
        if changelist := (getattr(response, "context_data", None) or {}).get("cl"):
            response.context_data["active_filters"] = active_filters(changelist)
        return response


class RowsInline(ZonedDateTimesAdmin, TabularInline):
    """A tabular inline without the title line above each row."""

    form: Any = NamedRow
    extra = 0
    if hasattr(TabularInline, "show_title"):  # renamed in unfold 0.110
        show_title = False
    else:
        hide_title = True


def as_id(value: Any) -> int | None:
    """Return the id in `value`, or None if it is not a valid one."""
    return int(value) if re.fullmatch("[0-9]{1,18}", str(value)) else None


def counted(rows: models.QuerySet, by: str) -> Coalesce:
    """Return a subquery that counts the `rows` that refer to the outer row by `by`.
    Joins would multiply.
    """
    groups = rows.filter(**{by: models.OuterRef("pk")}).order_by().values(by)
    return Coalesce(models.Subquery(groups.annotate(count=models.Count("*")).values("count")), 0)


def counted_link(model: type[models.Model], by: str, row: models.Model, count: int) -> str:
    """Return the `count` as a link to the list of those rows of `model` that refer to `row` by
    `by`.
    """
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return format_html(
        '<a class="text-link" href="{}?{}__id__exact={}">{}</a>', url, by, row.pk, count
    )
