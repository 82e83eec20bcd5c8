"""Writing forms: every save keeps the state it replaces, and no save overwrites another unseen."""

import re
from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forms_structure.models import Form, Snapshot
from forms_structure.structure import Structure, StructureError, clean, names
from jobsite.unique_names import numbered_name, retry_on_conflict


class ConflictError(Exception):
    """Somebody else saved the form since it was read; `snapshot` is what they made of it."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self.snapshot = snapshot
        super().__init__("The form was changed since it was read.")


class LostNamesError(Exception):
    """The save would drop `names`, which published vacancies show, and does not say so."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        super().__init__("The form would lose names that websites send answers under.")


def create(*, name: str, structure: Any, author: Any = None, origin: str = "", **values: Any) -> Form:
    """Create a form, under the next free name if `name` is taken; `values` are other columns.

    Raises StructureError, or ValidationError for an extension of an extension.
    """
    base = values.get("extends")
    if base:
        values["language"] = base.language

    def make() -> Form:
        locked = _locked(base.pk) if base else None
        form = Form(name=free_name(name), structure=structure, **values)
        form.clean()
        form.structure = checked(form, structure, locked)
        form.save()
        _keep(form, author=author, origin=origin)
        return form

    return retry_on_conflict(make)


def save(
    *,
    form: Form,
    structure: Any,
    revision: int | None = None,
    keep_names: bool = False,
    giving_up: Collection[str] = (),
    author: Any = None,
    origin: str = "",
    **values: Any,
) -> bool:
    """Give `form` another structure, and `values` (name, language); return whether anything changed. Any
    change is a new revision.

    With `revision`, the one that the author saw, a form that has moved on raises ConflictError. With
    `keep_names` no field may vanish but those of `giving_up`, else LostNamesError. Raises StructureError,
    also where a form that extends this one would have a name twice.
    """
    with transaction.atomic():
        # before the form itself, as by a save of that one: no two saves wait for each other
        base = _locked(form.extends_id) if form.extends_id else None
        current = Form.objects.select_for_update().select_related(None).get(pk=form.pk)
        if revision is not None and current.revision != revision:
            raise ConflictError(current.snapshots.select_related("author").first())
        values["structure"] = checked(current, structure, base)
        if keep_names and (lost := lost_names(current, values["structure"], giving_up)):
            raise LostNamesError(lost)
        changed = {name for name, value in values.items() if getattr(current, name) != value}
        if changed:
            _keep(current)  # in case something wrote around this function
            for name in changed:
                setattr(current, name, values[name])
            current.revision += 1
            current.updated_at = timezone.now()
            current.save(update_fields=[*changed, "revision", "updated_at"])
            _keep(current, author=author, origin=origin)
    form.refresh_from_db()
    return bool(changed)


def lost_names(form: Form, structure: Structure, giving_up: Collection[str] = ()) -> list[str]:
    """Return the names of `form` that neither `structure` nor `giving_up` has."""
    kept = {*names(structure), *giving_up}
    return [name for name in names(form.structure) if name not in kept]


def copy(*, form: Form, author: Any = None) -> Form:
    """Create a form with the same sections, called "Copy of ..." in the language that is active."""
    return create(
        name=_("Copy of %(form)s") % {"form": form.name},
        structure=form.structure,
        author=author,
        origin=f"copy of {form.name}"[:200],
        language=form.language,
        extends=form.extends,
    )


def restore(*, snapshot: Snapshot, **how: Any) -> bool:
    """Make structure and language of `snapshot` the newest ones; `how` is that of `save`."""
    origin = f"version {snapshot.revision} restored"
    return save(
        form=snapshot.form, structure=snapshot.structure, language=snapshot.language, origin=origin, **how
    )


def make_default(*, form: Form) -> None:
    """Make `form` the site's. Raises ValidationError if it extends another one."""

    def make() -> None:
        list(Form.objects.select_for_update().filter(Q(is_default=True) | Q(pk=form.pk)).order_by("pk"))
        if form.extends_id:
            text = _("“%(form)s” is added after another form, so it cannot be the site's form.")
            raise ValidationError(text % {"form": form})
        Form.objects.default().exclude(pk=form.pk).update(is_default=False)
        Form.objects.filter(pk=form.pk).update(is_default=True)

    retry_on_conflict(make)  # where there was no form of the site, there was no row for two to wait for


def checked(form: Form, structure: Any, base: Form | None) -> Structure:
    """Return `structure` as `form`, which extends `base`, may store it, or raise StructureError. Names are
    unique across both (docs/decisions.md #42), whichever of the two is saved."""
    cleaned = clean(structure, taken=names(base.structure) if base else ())
    own = set(names(cleaned))
    for extension in form.extensions.select_for_update() if form.pk else ():
        if both := own.intersection(names(extension.structure)):
            text = _("The form “%(form)s” is added after this form and also has the names %(names)s.")
            shared = {"form": extension, "names": ", ".join(sorted(both))}
            raise StructureError({"sections": text % shared})
    return cleaned


ORIGINS = {  # what `origin` is written as, for whoever reads it later
    re.compile(r"version (?P<number>\d+) restored"): gettext_lazy("version %(number)s restored"),
    re.compile(r"copy of (?P<form>.+)"): gettext_lazy("copy of %(form)s"),
    re.compile(r"from (?P<form>.+)"): gettext_lazy("from %(form)s"),
}


def translated_origin(origin: str) -> str:
    """The `origin` of a snapshot in the language that is active; the row has it in English, like the log."""
    for pattern, text in ORIGINS.items():
        if found := pattern.fullmatch(origin):
            return text % found.groupdict()
    return origin


def free_name(name: str) -> str:
    """Return `name`, cut and numbered so that no other form is called so."""
    base = name[:190]
    return numbered_name(base, set(Form.objects.filter(name__startswith=base).values_list("name", flat=True)))


def _locked(pk: int) -> Form:
    return Form.objects.select_for_update().get(pk=pk)


def _keep(form: Form, **how: Any) -> None:
    state = {"structure": form.structure, "language": form.language}
    Snapshot.objects.get_or_create(form=form, revision=form.revision, defaults={**state, **how})
