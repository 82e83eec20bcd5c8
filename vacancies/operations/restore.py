"""Restoring the content of a version, also of a deleted vacancy."""

from datetime import datetime

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from jobsite.languages import site_language, text_languages
from jobsite.types import JsonObject
from vacancies.history.versions import EXCLUDED_FIELDS, PUBLICATION, content_at
from vacancies.models import Brand, Change, Vacancy, Version, needs_approval, text_field
from vacancies.operations.approval_requests import approved_unchanged
from vacancies.operations.save import Edit, Saved, save_content, set_values


def restore(
    version: Version,
    *,
    author: User | None,
    at: datetime,
    forms: QuerySet | None = None,
    is_undo: bool = False,
) -> Saved:
    """Restore the content of the vacancy after `version`; submit it for approval if it needs that.

    The fields of EXCLUDED_FIELDS do not change. A deleted vacancy becomes a draft, unless
    `is_undo`: then it is published as before, if that needs no new approval. If `forms` is given, a
    form that is not among them counts as missing. Raise ValidationError if the vacancy is published
    or scheduled and the restored content could not be published.
    """
    values = content_at(version)
    wanted = {name: value for name, value in values.items() if name not in EXCLUDED_FIELDS}
    if text_languages():  # a version from before its other languages does not have it
        wanted.setdefault(text_field(values.get("language") or site_language()), None)
    with transaction.atomic():
        # A deleted vacancy has no row to lock: lock its versions, so that two restores wait for
        # each other.
        list(
            Version.objects.select_for_update().filter(vacancy=version.vacancy_id).values_list("pk")
        )
        vacancy = Vacancy.objects.select_for_update().filter(pk=version.vacancy_id).first()
        if vacancy is None:
            vacancy = Vacancy(pk=version.vacancy_id, created_at=at)
            wanted |= {name: values[name] for name in ("audience", "brand")}
            if is_undo and _was_approved(vacancy, values, at=at):
                wanted |= {name: values[name] for name in PUBLICATION}
        saved = save_content(
            vacancy,
            Edit(
                wanted,
                is_approved=vacancy._state.adding,
                skips_missing=True,
                is_undo=is_undo,
                forms=forms,
            ),
            author=author,
            at=at,
            change=Change.RESTORED,
        )
        is_same = not (saved.plan.changes or saved.plan.requested)
        if is_same and needs_approval(before=vacancy, after=vacancy, changed=wanted, at=at):
            raise ValidationError(_("The vacancy already has this content."))
    return saved


def _was_approved(vacancy: Vacancy, values: JsonObject, *, at: datetime) -> bool:
    """Return whether `vacancy`, which was deleted, may be published with `values` again."""
    row = Vacancy(pk=vacancy.pk)
    brand = values["brand"] and Brand.objects.filter(pk=values["brand"][0]).first()
    set_values(row, {name: values[name] for name in ("audience", *PUBLICATION)})
    row.brand = brand
    return not needs_approval(before=None, after=row, at=at) or bool(
        approved_unchanged([vacancy.pk])
    )
