"""Saves of forms. Every save creates a snapshot, and concurrent saves do
not overwrite each other.
"""

import re
from collections.abc import Collection, Mapping
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
from forms_structure.translations import (
    Mark,
    check_equal,
    follow,
    is_text,
    own_values,
    started,
    with_values,
)
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
            _follow(current, structure, str(edit.language or current.language), author)
            _write(current, {name: values[name] for name in changed}, author, origin)
    form.refresh_from_db()
    return bool(changed)


def translate(form: Form, language: str, *, author: User | None = None) -> Form:
    """Create the translation of `form` into `language`, in its words: all are to translate. Raise
    ValidationError if it has one, or if the form that it extends has none.
    """
    with transaction.atomic():
        original = Form.objects.select_for_update().select_related(None).get(pk=form.pk)
        taken = {original.language, *original.translations.values_list("language", flat=True)}
        base = form.extends and form.extends.translations.filter(language=language).first()
        if original.translation_of_id or language in taken or (form.extends and not base):
            raise ValidationError(_("The form cannot be translated into this language now."))
        made = Form.objects.create(
            name=free_name(f"{original.name} ({language})"),
            language=language,
            translation_of=original,
            extends=base,
            structure=original.structure,
            marks=started(original.structure),
        )
        _add_snapshot(made, author=author, origin=f"from {original.name}"[:200])
    return made


def save_translation(
    form: Form, values: Mapping[str, str], *, right: Collection[str] = (), author: User | None
) -> None:
    """Save texts and widths of a translation by path. An empty text is in the words of the original.
    A text is no longer to translate if it changes, or if its path is in `right`. Raise
    StructureError.
    """
    with transaction.atomic():
        assert form.translation_of_id
        original = _locked(form.translation_of_id)  # before the translation, as in its own save
        current = _locked(form.pk)
        words = own_values(original.structure)
        new = {path: text or words[path] for path, text in values.items() if path in words}
        structure = clean(with_values(current.structure, new))
        check_equal(original.structure, structure)
        texts = [path for path in new if is_text(path)]
        done = {*right, *(path for path in texts if values[path])}
        marks = {path: mark for path, mark in current.marks.items() if path not in done}
        marks |= {path: Mark.NEW for path in texts if words[path] and not values[path]}
        if (structure, marks) != (current.structure, current.marks):
            _write(current, {"structure": structure, "marks": marks}, author)


def lost_names(form: Form, structure: Structure, giving_up: Collection[str] = ()) -> list[str]:
    """Return the field names of `form` that are neither in `structure` nor in `giving_up`."""
    remaining = {*names(structure), *giving_up}
    return [name for name in names(form.structure) if name not in remaining]


def copy(*, form: Form, author: User | None = None) -> Form:
    """Create a form with the same sections, named "Copy of ..." in the active language."""
    made = create(
        name=_("Copy of %(form)s") % {"form": form.name},
        structure=form.structure,
        author=author,
        origin=f"copy of {form.name}"[:200],
        language=form.language,
        extends=form.extends,
    )
    copy_translations(form, made, author=author)
    return made


def copy_translations(form: Form, made: Form, *, author: User | None = None) -> None:
    """Give `made`, a form that was made of `form`, the translations of it."""
    for each in form.translations.exclude(language=made.language):
        _take(translate(made, each.language, author=author), form.structure, made.structure, each)


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


def _follow(form: Form, structure: Structure, language: str, author: User | None) -> None:
    """Apply the next `structure` of `form`, which is locked, to its translations."""
    for each in form.translations.select_for_update().order_by("pk"):
        if each.language == language:
            text = _("This form has a translation into this language.")
            raise StructureError({"language": text})
        _take(each, form.structure, structure, each, author)


def _take(
    form: Form, before: Structure, after: Structure, known: Form, author: User | None = None
) -> None:
    """Give `form` the structure `after` in the words of `known`, a translation of `before`."""
    structure, marks = follow(before, after, known.structure, known.marks)
    if (structure, marks) != (form.structure, form.marks):
        _write(form, {"structure": structure, "marks": marks}, author)


def _write(form: Form, values: Mapping[str, object], author: User | None, origin: str = "") -> None:
    """Write a new revision of `form`, which is locked."""
    _add_snapshot(form)  # missing if the form was not saved by these functions
    for name, value in values.items():
        setattr(form, name, value)
    form.revision += 1
    form.updated_at = timezone.now()
    form.save(update_fields=[*values, "revision", "updated_at"])
    _add_snapshot(form, author=author, origin=origin)


def _locked(pk: int) -> Form:
    return Form.objects.select_for_update().get(pk=pk)


def _add_snapshot(form: Form, **how: object) -> None:
    state = {"structure": form.structure, "language": form.language}
    Snapshot.objects.get_or_create(form=form, revision=form.revision, defaults={**state, **how})
