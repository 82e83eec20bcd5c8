"""Fields that sanitise or derive their value on every write:
admin, import, bulk insert, update().
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _
from django_prose_editor.fields import ProseEditorField

from forms_structure.structure import NO_TEXT
from jobsite.db.folding import fold
from jobsite.text.html import CleanHtml, check_size, sanitise, visible_text

# The allowed markup (docs/decisions.md #11). The editor offers exactly this, so that nothing a
# recruiter writes is removed. It keeps the tables that somebody pastes.
EDITOR_EXTENSIONS: dict[str, object] = {
    "Bold": True,
    "Italic": True,
    "Underline": True,
    "Heading": {"levels": [2, 3, 4, 5]},
    "BulletList": True,
    "OrderedList": True,
    "ListItem": True,
    "Blockquote": True,
    "HardBreak": True,
    "Link": {"enableTarget": False, "protocols": ["http", "https", "mailto", "tel"]},
    "PastedTable": True,  # until the text is saved
}


@lru_cache(maxsize=1024)  # texts repeat within an employer or a bulk load
def _folded_html(html: CleanHtml) -> str:
    return fold(visible_text(html))


def folded_text(column: object, text: str) -> str:
    return _folded_html(sanitise(text)) if isinstance(column, HtmlField) else fold(text)


class HtmlField(ProseEditorField):
    """HTML text that is sanitised before every write to the database."""

    default_validators = [check_size]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("blank", True)
        kwargs.setdefault("default", "")
        super().__init__(*args, extensions=EDITOR_EXTENSIONS, sanitize=sanitise, **kwargs)

    def pre_save(self, model_instance: models.Model, add: bool) -> CleanHtml:
        value = sanitise(getattr(model_instance, self.attname))
        setattr(model_instance, self.attname, value)
        return value

    def get_db_prep_save(self, value: object, connection: BaseDatabaseWrapper) -> Any:
        # QuerySet.update() calls this without pre_save.
        return super().get_db_prep_save(
            sanitise(value) if isinstance(value, str) else value, connection
        )


class TextsField(models.JSONField):
    """Texts by name of a column of another model, without empty ones. Refuses other names, and what
    the column would refuse; sanitises HTML as it does.
    """

    def __init__(self, *args: Any, columns: Iterable[models.Field] = (), **kwargs: Any) -> None:
        self.columns = {column.name: column for column in columns}
        super().__init__(*args, **{"default": dict} | kwargs)

    def deconstruct(self) -> tuple:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    def cleaned(self, value: object) -> dict[str, str]:
        """Return `value` as it is stored. Raises ValidationError with the reasons by name."""
        if not isinstance(value, dict):
            raise ValidationError(_("Texts are an object."))
        found, errors = {}, {}
        for name, text in value.items():
            column = self.columns.get(name)
            try:
                if column is None or not isinstance(text, str) or NO_TEXT.search(text):
                    raise ValidationError(_("This is not a text of a vacancy."))
                column.run_validators(text)
            except ValidationError as error:
                errors[str(name)] = error
                continue
            text = sanitise(text) if isinstance(column, HtmlField) else text.strip()
            if text:
                found[name] = text
        if errors:
            raise ValidationError(errors)
        return {name: found[name] for name in self.columns if name in found}

    def get_db_prep_save(self, value: object, connection: BaseDatabaseWrapper) -> Any:
        return super().get_db_prep_save(self.cleaned(value), connection)

    def folded(self, texts: Mapping[str, str]) -> str:
        """Return stored texts as one folded text, for the search."""
        return " ".join(folded_text(self.columns[name], text) for name, text in texts.items())


class FoldedField(models.TextField):
    """Folded text of other fields of the same row, for search and sorting.

    A save derives it. A save with `update_fields` must include it. After raw SQL, run `manage.py
    lint_vacancies --fix`.
    """

    def __init__(self, *args: Any, sources: tuple[str, ...] = (), **kwargs: Any) -> None:
        self.sources = sources
        kwargs |= {"editable": False, "default": ""}
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        meta = model_instance._meta
        texts = []
        for source in self.sources:
            texts.append(folded_text(meta.get_field(source), getattr(model_instance, source)))
        value = " ".join(filter(None, texts))
        setattr(model_instance, self.attname, value)
        return value


class SlugFromField(models.SlugField):
    """A slug that a save derives from the field `source` of the row if it is empty. It is unique
    among the rows of the model, and stays when the source changes, because links contain it.
    """

    def __init__(self, *args: Any, source: str = "", **kwargs: Any) -> None:
        self.source = source
        defaults: dict[str, Any] = {
            "max_length": 200,
            "blank": True,
            "default": "",
            "db_default": "",
        }
        super().__init__(*args, **defaults | kwargs)

    def deconstruct(self) -> tuple:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.SlugField", args, kwargs

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        value = getattr(model_instance, self.attname)
        if not value:
            rows = type(model_instance)._default_manager.order_by().exclude(pk=model_instance.pk)
            taken = set(rows.values_list(self.attname, flat=True))
            value = free_value(getattr(model_instance, self.source), taken)
            setattr(model_instance, self.attname, value)
        return value


class LabelsField(models.JSONField):
    """The translations of the label of a row, by the code of their language. They are shown while
    the language is one of TEXT_LANGUAGES; a missing one is the label.
    """

    def __init__(self, **kwargs: Any) -> None:
        defaults: dict[str, Any] = {"default": dict, "db_default": {}, "editable": False}
        super().__init__(**defaults | kwargs)

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        super().validate(value, model_instance)
        of_text = models.CharField(max_length=200)
        for code, label in value.items():
            if not re.fullmatch("[a-z]{2}", code):
                raise ValidationError(_("“%(code)s” is not a language.") % {"code": code})
            of_text.clean(label, model_instance)


# Between words that are often written without a space, as in "Nurse(m/f)"; not in "infirmier(ère)".
_SEPARATORS = re.compile(r"[/\\|&+,;•]|\((?=\w+[/|])")


def slug_of(text: str) -> str:
    """Return the ASCII slug of `text`, "" if no ASCII is left: "Straßenbauer (m/w/d)" is
    "strassenbauer-m-w-d" (docs/decisions.md #7)."""
    return slugify(_SEPARATORS.sub(" ", fold(text)))


def free_value(label: str, taken: set[str]) -> str:
    """Return the slug of `label`, numbered when `taken` holds it: "full-time", "full-time-2"."""
    base = slug_of(label)[:180] or "option"
    return next(
        value
        for n in range(1, len(taken) + 2)
        if (value := base if n == 1 else f"{base}-{n}") not in taken
    )


def plain_fields(model: type[models.Model]) -> tuple[models.Field, ...]:
    """Return the fields of `model` that people edit, except relations and files."""
    return tuple(
        field
        for field in model._meta.fields
        if field.editable
        and not (field.primary_key or field.is_relation or isinstance(field, models.FileField))
    )


def html_fields(model: type[models.Model]) -> tuple[str, ...]:
    """Return the names of the HTML fields of `model`."""
    return tuple(field.name for field in model._meta.fields if isinstance(field, HtmlField))
