"""Querysets of forms and consent texts:
default form, forms that accept applications, current text.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Func, Q
from django.db.models.sql.compiler import SQLCompiler
from django.utils import translation
from django.utils.translation import gettext

from jobsite.db.transactions import retry_on_conflict
from jobsite.languages import site_language

BUILT_IN = 1  # version of the built-in consent text


class _AsksForAddress(Func):
    """`roles.accepts_applications` of a structure, in SQL."""

    output_field = models.BooleanField()

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **kwargs: Any
    ) -> tuple[str, Sequence[object]]:
        path = '$[*].fields[*] ? (@.role == "email" && @.required == true)'
        template = f"jsonb_path_exists(%(expressions)s, '{path}')"
        return self.as_sql(compiler, connection, template=template, **kwargs)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **kwargs: Any
    ) -> tuple[str, Sequence[object]]:
        each = "json_each(%(expressions)s) section, json_each(section.value, '$.fields') field"
        is_one = "field.value ->> '$.role' = 'email' AND field.value ->> '$.required'"
        template = f"EXISTS(SELECT 1 FROM {each} WHERE {is_one})"
        return self.as_sql(compiler, connection, template=template, **kwargs)


class FormQuerySet(models.QuerySet):
    def accepting_applications(self) -> Self:
        """Forms that, with the form that they extend, ask for the applicant's e-mail address."""
        own, base = _AsksForAddress(F("structure")), _AsksForAddress(F("extends__structure"))
        return self.filter(Q(own) | Q(base))

    def originals(self) -> Self:
        """Forms that are no translations: those that vacancies and brands may have."""
        return self.filter(translation_of=None)

    def default(self) -> Self:
        """The site's form, for vacancies without a form of their own or of their brand."""
        return self.filter(is_default=True)


class ConsentTextQuerySet(models.QuerySet):
    def current(self, language: str, brand: int | None = None, purpose: str = "application") -> Any:
        """Return the newest text of `brand`, a number, in `language`, else in the site's language,
        else that of the site. If there is none, return the built-in text, version 1, as an unsaved
        row. The right employer comes before the right language (docs/decisions.md #38).
        """
        of_either = self.filter(Q(brand_number=brand) | Q(brand_number=None))
        newest = of_either.filter(language__in=(language, site_language())).newest(purpose)
        for key in product(dict.fromkeys((brand, None)), (language, site_language())):
            if found := newest.get(key):
                return found
        with translation.override(language):
            text = (
                gettext("I agree that you keep my data, to consider me for other vacancies.")
                if purpose == "pool"
                else gettext("I agree that my data is kept and used for this application.")
            )
        return self.model(version=BUILT_IN, language=language, text=text, purpose=purpose)

    def newest(self, purpose: str = "application") -> dict[tuple[int | None, str], Any]:
        """Return the newest text of each brand in each language, by both; that of the site has
        None. A newest version without a text says that the brand has none of its own any more.
        """
        rows: models.QuerySet[Any] = self.filter(purpose=purpose).order_by("version")
        newest = {(row.brand_number, row.language): row for row in rows}
        return {key: row for key, row in newest.items() if row.text}

    def add(self, **values: object) -> Any:
        """Create the next version with the columns `values`."""

        def make() -> Any:
            latest = self.aggregate(version=models.Max("version"))
            return self.create(version=(latest["version"] or BUILT_IN) + 1, **values)

        return retry_on_conflict(make)
