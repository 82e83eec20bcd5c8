"""Saves of forms. Every save creates a snapshot, and concurrent saves do
not overwrite each other.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forms_structure.models import Form, Snapshot
from forms_structure.roles import roles
from forms_structure.structure import Structure, StructureError, clean, names
from jobsite.db.transactions import retry_on_conflict
from jobsite.text.names import numbered_name


class FormConflictError(Exception):
    """The form was saved since it was read. `snapshot` is the version that was saved."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self.snapshot = snapshot
        super().__init__("The form was changed since it was read.")


class LostNamesError(Exception):
    """The save would remove the field `names`, which published vacancies show, without
    confirmation.
    """

    def __init__(self, names: list[str]) -> None:
        self.names = names
        super().__init__("The form would lose field names that websites use.")


def create(
    *,
    name: str,
    structure: object,
    author: User | None = None,
    origin: str = "",
    extends: Form | None = None,
    **values: object,
) -> Form:
    """Create a form. If `name` is taken, a number is appended. `values` are other columns.

    Raise StructureError, or ValidationError for an extension of an extension.
    """
    if extends:
        values["language"] = extends.language

    def make() -> Form:
        locked = _locked(extends.pk) if extends else None
        form = Form(name=free_name(name), structure=structure, extends=extends, **values)
        form.clean()
        form.structure = checked(form, structure, locked)
        form.save()
        _add_snapshot(form, author=author, origin=origin)
        return form

    return retry_on_conflict(make)


@dataclass(frozen=True)
class FormEdit:
    """A new `structure` of a form and, unless they are None, another `name` and `language`.
    `revision` is the one that the author edited. If published vacancies show the form, `giving_up`
    has the names of the fields that may be removed; None allows all.
    """

    structure: object
    name: str | None = None
    language: str | None = None
    revision: int | None = None
    giving_up: Collection[str] | None = None


def save(form: Form, edit: FormEdit, *, author: User | None = None, origin: str = "") -> bool:
    """Save `edit` as a new revision of `form`. Return whether anything changed.

    Raise FormConflictError if the form has a later revision than the edited one, LostNamesError if
    a field would be removed that may not be, and StructureError, also if a form that extends this
    one would have a name twice.
    """
    with transaction.atomic():
        # locked before the form itself, as in a save of the base: no deadlock
        base = _locked(form.extends_id) if form.extends_id else None
        current = Form.objects.select_for_update().select_related(None).get(pk=form.pk)
        if edit.revision is not None and current.revision != edit.revision:
            raise FormConflictError(current.snapshots.select_related("author").first())
        structure = checked(current, edit.structure, base)
        if edit.giving_up is not None and (lost := lost_names(current, structure, edit.giving_up)):
            raise LostNamesError(lost)
        values = {"structure": structure, "name": edit.name, "language": edit.language}
        changed = {
            name
            for name, value in values.items()
            if value is not None and getattr(current, name) != value
        }
        if changed:
            _add_snapshot(current)  # missing if the form was not saved by this function
            for name in changed:
                setattr(current, name, values[name])
            current.revision += 1
            current.updated_at = timezone.now()
            current.save(update_fields=[*changed, "revision", "updated_at"])
            _add_snapshot(current, author=author, origin=origin)
    form.refresh_from_db()
    return bool(changed)


def lost_names(form: Form, structure: Structure, giving_up: Collection[str] = ()) -> list[str]:
    """Return the field names of `form` that are neither in `structure` nor in `giving_up`."""
    remaining = {*names(structure), *giving_up}
    return [name for name in names(form.structure) if name not in remaining]


def copy(*, form: Form, author: User | None = None) -> Form:
    """Create a form with the same sections, named "Copy of ..." in the active language."""
    return create(
        name=_("Copy of %(form)s") % {"form": form.name},
        structure=form.structure,
        author=author,
        origin=f"copy of {form.name}"[:200],
        language=form.language,
        extends=form.extends,
    )


def restore(
    *,
    snapshot: Snapshot,
    revision: int | None = None,
    giving_up: Collection[str] | None = None,
    author: User | None = None,
) -> bool:
    """Save the structure and language of `snapshot` as a new revision, if the form has still the
    `revision`. `giving_up` is as in FormEdit.
    """
    edit = FormEdit(
        snapshot.structure, language=snapshot.language, revision=revision, giving_up=giving_up
    )
    origin = f"version {snapshot.revision} restored"
    return save(snapshot.form, edit, author=author, origin=origin)


def make_default(*, form: Form) -> None:
    """Make `form` the site's form. Raise ValidationError if it extends another one."""

    def make() -> None:
        list(
            Form.objects.select_for_update()
            .filter(Q(is_default=True) | Q(pk=form.pk))
            .order_by("pk")
        )
        if form.extends_id:
            text = _("“%(form)s” is added after another form, so it cannot be the site's form.")
            raise ValidationError(text % {"form": form})
        Form.objects.default().exclude(pk=form.pk).update(is_default=False)
        Form.objects.filter(pk=form.pk).update(is_default=True)

    retry_on_conflict(make)  # without a site's form there is no row to lock: retry on conflict


def checked(form: Form, structure: object, base: Form | None) -> Structure:
    """Return the validated `structure` of `form`, which extends `base`, or raise StructureError.
    Names are unique across a form and its base (docs/decisions.md #42), and so are roles.
    """
    cleaned = clean(structure, base=base.structure if base else ())
    own = set(names(cleaned))
    for extension in form.extensions.select_for_update() if form.pk else ():
        if both := own.intersection(names(extension.structure)):
            text = _(
                "The form “%(form)s” is added after this form and also has the names %(names)s."
            )
            shared = {"form": extension, "names": ", ".join(sorted(both))}
            raise StructureError({"sections": text % shared})
        if both := roles(cleaned).keys() & roles(extension.structure).keys():
            text = _(
                "The form “%(form)s” is added after this form and also has the roles %(roles)s."
            )
            shared = {"form": extension, "roles": ", ".join(sorted(both))}
            raise StructureError({"sections": text % shared})
    return cleaned


ORIGINS = {  # translations of the values of `origin`
    re.compile(r"version (?P<number>\d+) restored"): gettext_lazy("version %(number)s restored"),
    re.compile(r"copy of (?P<form>.+)"): gettext_lazy("copy of %(form)s"),
    re.compile(r"from (?P<form>.+)"): gettext_lazy("from %(form)s"),
}


def translated_origin(origin: str) -> str:
    """Return the `origin` of a snapshot, stored in English, in the active language."""
    for pattern, text in ORIGINS.items():
        if found := pattern.fullmatch(origin):
            return text % found.groupdict()
    return origin


def free_name(name: str) -> str:
    """Return `name`, truncated and numbered so that no other form has it."""
    base = name[:190]
    return numbered_name(
        base, set(Form.objects.filter(name__startswith=base).values_list("name", flat=True))
    )


def _locked(pk: int) -> Form:
    return Form.objects.select_for_update().get(pk=pk)


def _add_snapshot(form: Form, **how: object) -> None:
    state = {"structure": form.structure, "language": form.language}
    Snapshot.objects.get_or_create(form=form, revision=form.revision, defaults={**state, **how})
