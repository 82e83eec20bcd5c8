"""Texts without case, accents and typographic variants, in Python and in SQL. Importing this module
registers the lookup `folded_contains`.
"""

import unicodedata
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.models.lookups import Contains
from django.dispatch import receiver

# Latin letters that Unicode does not decompose into a base letter and an accent, and typographic
# characters that people type as ASCII.
_FOLDED = (
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
    | dict.fromkeys("‘’‚‛", "'")
    | dict.fromkeys("“”„‟", '"')
    | dict.fromkeys("‐‑‒–—", "-")
)
_GREEK = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
_CYRILLIC = "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐ"
_FUNCTION = "jobsite_fold"  # on SQLite
# Accents and invisible format characters, such as the soft hyphen.
_INSIGNIFICANT = r"[\u00AD\u0300-\u036F\u200B-\u200F\u2060\uFEFF]"


def fold(text: str) -> str:
    """Return `text` without case, accents and typographic variants, with single spaces between
    words.

    Stored texts and search words are both folded, so that a substring test finds the same rows on
    every database.
    """
    if text.isascii():  # most texts; a tenth of the time
        return " ".join(text.replace("\0", "").lower().split())
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return " ".join(decomposed.translate(_LETTERS).split())


class _Letters(dict):
    """What folded texts have instead of a character, by its code: nothing instead of an accent, a
    NUL or an invisible format character such as the soft hyphen.
    """

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        is_accent = unicodedata.combining(character) or unicodedata.category(character) == "Cf"
        self[code] = None if is_accent or not code else code
        return self[code]


_LETTERS = _Letters(str.maketrans(_FOLDED))


def folded_sql(text: str) -> str:
    """Return the SQL expression of PostgreSQL that folds `text`, itself SQL. An index can have it:
    it uses immutable functions only, and no extension. ASCII takes a tenth of the time of other
    texts.
    """
    folded = f"regexp_replace(lower(normalize({text}, NFKD)), '{_INSIGNIFICANT}', '', 'g')"
    # In the locale C, lower() changes ASCII only.
    single = {"ẞ": "ß", "ς": "σ"} | {letter: letter.lower() for letter in _GREEK + _CYRILLIC}
    for letter, plain in _FOLDED.items():
        single |= {
            variant: plain if len(plain) == 1 else letter for variant in (letter.upper(), letter)
        }
    single = {letter: plain for letter, plain in single.items() if letter != plain}
    from_, to = ("".join(part).replace("'", "''") for part in (single.keys(), single.values()))
    folded = f"translate({folded}, '{from_}', '{to}')"
    for letter, plain in {"ß": "ss", **_FOLDED}.items():
        if len(plain) > 1:
            folded = f"replace({folded}, '{letter}', '{plain}')"
    return f"CASE WHEN octet_length({text}) = length({text}) THEN lower({text}) ELSE {folded} END"


@models.CharField.register_lookup
@models.TextField.register_lookup
class FoldedContains(Contains):
    """`name__folded_contains="muller"` finds Müller."""

    lookup_name = "folded_contains"

    def get_prep_lookup(self) -> str:
        return fold(str(super().get_prep_lookup()))

    def process_lhs(self, compiler: Any, connection: BaseDatabaseWrapper, lhs: Any = None) -> Any:
        sql, parameters = super().process_lhs(compiler, connection, lhs)
        if connection.vendor != "postgresql":
            return sql, parameters
        folded = folded_sql(sql)
        return folded, [*parameters] * folded.count(sql)

    def get_rhs_op(self, connection: Any, rhs: str) -> str:
        return connection.operators["contains"] % rhs

    def as_sqlite(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        text, of_text = self.process_lhs(compiler, connection)
        rhs, of_rhs = self.process_rhs(compiler, connection)
        like = self.get_rhs_op(connection, rhs)
        # LIKE ignores the case of ASCII. Python is called for other texts only: it is slow.
        is_ascii = f"length({text}) = length(CAST({text} AS BLOB))"
        sql = f"({text} {like} OR NOT {is_ascii} AND {_FUNCTION}({text}) {like})"
        return sql, [*of_text, *of_rhs, *of_text, *of_text, *of_text, *of_rhs]


class Joined(models.Func):
    """Columns with a space between, as SQL expressions of indexes have them."""

    template, arg_joiner = "(%(expressions)s)", " || ' ' || "
    output_field = models.TextField()


class Folded(models.Func):
    """A text as `fold` returns it."""

    function, output_field = _FUNCTION, models.TextField()

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        sql, parameters = compiler.compile(self.source_expressions[0])
        folded = folded_sql(sql)
        return folded, [*parameters] * folded.count(sql)


@receiver(connection_created)
def _add_function(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    if connection.vendor == "sqlite":
        connection.connection.create_function(
            _FUNCTION, 1, lambda text: None if text is None else fold(text), deterministic=True
        )
