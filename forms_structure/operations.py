"""Writing forms: every save keeps the state it replaces, and no save overwrites another unseen."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from forms_structure.models import Form, Snapshot
from forms_structure.structure import Structure, StructureError, clean, names


class ConflictError(Exception):
    """Somebody else saved the form since it was read; `snapshot` is what they made of it."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self.snapshot = snapshot
        super().__init__("The form was changed since it was read.")


def create(*, name: str, structure: Any, author: Any = None, origin: str = "", **values: Any) -> Form:
    """Create a form, under the next free name if `name` is taken; `values` are other columns.

    Raises StructureError.
    """
    with transaction.atomic():
        form = Form(name=free_name(name), structure=structure, **values)
        form.structure = checked(form, structure)
        form.save()
        _keep(form, author=author, origin=origin)
    return form


def save(
    *,
    form: Form,
    structure: Any,
    revision: int | None = None,
    author: Any = None,
    origin: str = "",
    **values: Any,
) -> bool:
    """Give `form` another structure, and `values` (name, language); return whether anything changed.

    With `revision`, the one that the author saw, a form that has moved on raises ConflictError. Raises
    StructureError, also where a form that extends this one would have a name twice.
    """
    with transaction.atomic():
        if form.extends_id:  # locked first, as by a save of that form: no two saves wait for each other
            Form.objects.select_for_update().get(pk=form.extends_id)
        current = Form.objects.select_for_update().select_related(None).get(pk=form.pk)
        if revision is not None and current.revision != revision:
            raise ConflictError(current.snapshots.select_related("author").first())
        structure = checked(current, structure)
        changed = {name for name, value in values.items() if getattr(current, name) != value}
        for name in changed:
            setattr(current, name, values[name])
        if structure != current.structure:
            _keep(current)  # in case something wrote around this function
            current.structure = structure
            current.revision += 1
            changed |= {"structure", "revision"}
            _keep(current, author=author, origin=origin)
        if changed:
            current.updated_at = timezone.now()
            current.save(update_fields=[*changed, "updated_at"])
    form.refresh_from_db()
    return bool(changed)


def copy(*, form: Form, author: Any = None, name: str = "") -> Form:
    """Create a form with the same sections; `name` is "Copy of ..." unless given."""
    return create(
        name=name or f"Copy of {form.name}",
        structure=form.structure,
        author=author,
        origin=f"copy of {form.name}"[:200],
        language=form.language,
        extends=form.extends,
    )


def restore(*, snapshot: Snapshot, author: Any = None) -> bool:
    """Make the structure of `snapshot` the newest one; return whether that changed anything."""
    return save(
        form=snapshot.form,
        structure=snapshot.structure,
        author=author,
        origin=f"version {snapshot.revision} restored",
    )


def checked(form: Form, structure: Any) -> Structure:
    """Return `structure` as `form` may store it, or raise StructureError. Names are unique across a form
    and the one it extends (docs/decisions.md #42), whichever of the two is saved."""
    base = Form.objects.select_for_update().get(pk=form.extends_id) if form.extends_id else None
    cleaned = clean(structure, taken=names(base.structure) if base else ())
    own = set(names(cleaned))
    for extension in form.extensions.select_for_update() if form.pk else ():
        if both := own.intersection(names(extension.structure)):
            text = f"The form “{extension}” extends this one and has the names {', '.join(sorted(both))} too."
            raise StructureError({"sections": text})
    return cleaned


def free_name(name: str) -> str:
    """Return `name`, numbered if another form is called so: "Engineers", "Engineers (2)"."""
    base = name[:190]
    taken = set(Form.objects.filter(name__startswith=base).values_list("name", flat=True))
    numbers = range(1, len(taken) + 2)
    return next(free for n in numbers if (free := base if n == 1 else f"{base} ({n})") not in taken)


def _keep(form: Form, **how: Any) -> None:
    Snapshot.objects.get_or_create(
        form=form, revision=form.revision, defaults={"structure": form.structure, **how}
    )
