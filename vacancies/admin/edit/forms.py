"""The form of a vacancy with its inlines: how it starts, and the content that it produces."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import InlineAdminFormSet
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import Model
from django.forms import all_valid
from django.forms.utils import ErrorDict

from jobsite.text.html import sanitise
from jobsite.text.iso_names import country_name
from jobsite.types import UserRequest
from vacancies.admin.edit.form_input import Files, Input, initial_post_data, to_querydict
from vacancies.admin.edit.texts import TextForms, opened, stored_texts
from vacancies.choices import Keyword
from vacancies.fields import html_fields
from vacancies.history.versions import Content, as_json, columns_of, file_of
from vacancies.models import Attachment, Place, Vacancy, VacancyRecruiter


@dataclass
class Start:
    """What the form starts with beside the stored vacancy: initial values, rows by model, and a
    stored file for a new vacancy. `not_filled_in` has the names of what could not be filled in.
    """

    initial: dict[str, object] = field(default_factory=dict)
    rows: dict[type[Model], list[dict[str, object]]] = field(default_factory=dict)
    image: str = ""
    texts: dict[str, Any] = field(default_factory=dict)  # in other languages, by language
    languages: list[str] = field(default_factory=list)  # whose tabs are open
    not_filled_in: list[str] = field(default_factory=list)


@dataclass
class EditForms:
    """The form of a vacancy and the formsets of its `inlines`."""

    form: Any
    formsets: list[Any]
    inlines: list[InlineAdminFormSet]
    texts: TextForms

    def is_valid(self) -> bool:
        is_valid = self.form.is_valid()
        return all_valid(self.formsets) and is_valid

    def content(self) -> Content:
        """Return the content of the vacancy as the valid forms have it.
        An upload is a file, not stored.
        """
        values = form_content(self.form, self.formsets)
        return values | self.texts.content(values)

    def initial_post_data(self) -> Input:
        """Return what a browser posts if nothing is changed. The forms are unbound."""
        return initial_post_data(self.form, self.formsets)

    def without_errors(self) -> None:
        """Keep bound forms, whose user is not done, from being validated."""
        self.form._errors = ErrorDict()
        for formset in self.formsets:
            for row in formset.forms:
                row._errors = ErrorDict()
            formset._errors = [row._errors for row in formset.forms]
            formset._non_form_errors = formset.error_class()


def make_forms(
    admin: ModelAdmin,
    request: UserRequest,
    vacancy: Vacancy | None,
    *,
    start: Start | None = None,
    data: Mapping[str, Iterable[str]] | None = None,
    files: Files | None = None,
) -> EditForms:
    """Return the forms of `vacancy`, None for a new one, bound to `data` if that is given."""
    start = start or Start()
    fields = flatten_fieldsets(admin.get_fieldsets(request, vacancy))
    form_class = admin.get_form(request, vacancy, change=vacancy is not None, fields=fields)
    posted = None if data is None else to_querydict(data)
    # Without an instance, fields of a new vacancy start with the values of the form class.
    instance = vacancy or (Vacancy(image=start.image) if start.image else None)
    form = form_class(posted, files, instance=instance, initial=start.initial)
    languages = opened(posted) if posted is not None else [*start.languages, *start.texts]
    texts = TextForms(form, languages, stored_texts(vacancy) | start.texts)
    formsets, inlines = [], []
    for made, inline in admin.get_formsets_with_inlines(request, vacancy):
        kwargs = admin.get_formset_kwargs(request, form.instance, inline, made.get_default_prefix())
        rows = start.rows.get(inline.model)
        formset = made(**kwargs | {"data": posted, "files": files, "initial": rows})
        formset.extra += len(rows or ())
        formsets.append(formset)
        inlines.append(inline)
    return EditForms(form, formsets, inlines, texts)


def form_content(form: Any, formsets: Any = ()) -> Content:
    """Return the content of the vacancy that the valid `form` and `formsets` have. Without
    formsets, it has no rows of them.
    """
    values = columns_of(form.instance)
    values |= {name: sanitise(values[name]) for name in html_fields(Vacancy)}
    for keyword in set(Keyword.values) & set(form.fields):
        labels = dict(form.fields[keyword].choices)
        values[keyword] = [[pk, str(labels.get(pk, pk))] for pk in form.cleaned_data[keyword]]
    if "remote_countries" in form.fields:
        codes = form.cleaned_data["remote_countries"]
        values["remote_countries"] = [[code, country_name(code)] for code in codes]
    for formset in formsets:
        rows = [row.instance for row in formset.kept_forms]
        rows.sort(key=lambda row: (row.position, row.pk is None, row.pk))
        name, value_of = _LISTS[formset.model]
        values[name] = [value_of(row) for row in rows]
    return values


# By the model of a formset: the name of the list in a content, and what it has of a row.
_LISTS: dict[type[Model], tuple[str, Callable[[Any], object]]] = {
    Place: ("places", lambda row: as_json(row.address)),
    VacancyRecruiter: ("recruiters", lambda row: [row.recruiter_id, str(row.recruiter)]),
    Attachment: (
        "attachments",
        lambda row: {"name": row.name, "file": file_of(row.file), "url": row.url},
    ),
}
