"""The search of applications: what their lists find."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection
from django.db.models import CharField, Q
from django.db.models.functions import Upper

from applications.querysets import ApplicationQuerySet
from jobsite.db.folding import FoldedContains, Joined, fold
from jobsite.db.similar_names import similar
from jobsite.text.search import search_words
from vacancies.search.rows import in_title, query_words

CharField.register_lookup(Upper)  # the index of names has it
SIMILAR = "~"  # before a search: similar names too
FEW = 500  # hits that are not searched again, to count them and for the page
_NAMELESS = Q(given_name__upper="", family_name__upper="")
# The names that lists show.
NAMES = {
    "given_name": Q(),
    "family_name__upper": Q(),
    "user__first_name": _NAMELESS,
    "user__last_name": _NAMELESS,
}


def matching(rows: ApplicationQuerySet, text: str, *, tags: bool = False) -> ApplicationQuerySet:
    """Return those of `rows` that contain each word of `text` in the name, address, reference or
    account of the applicant, in the title of the vacancy, in another form too, or in its `tags`; or
    that are to the vacancy with this id. If there are none, or the text begins with SIMILAR, also
    those with names like it (`has_similar`). Raise ValidationError if the words are too many.
    """
    words = _words(text.removeprefix(SIMILAR))
    conditions = {word: _with_word(rows.model, word, tags=tags) for word in words}
    if is_exact := not text.startswith(SIMILAR):
        found = rows.filter(*conditions.values())
        pks = list(found.order_by().values_list("pk", flat=True)[: FEW + 1])
        if pks:
            return found if len(pks) > FEW else rows.filter(pk__in=pks)
    # nothing has the only word
    found = with_names_like(rows, words, {} if is_exact and len(words) == 1 else conditions)
    found.has_similar = True
    return found


def with_names_like(
    rows: ApplicationQuerySet, words: list[str], otherwise: Mapping[str, Q]
) -> ApplicationQuerySet:
    """Return those of `rows` with a name like each of the `words`, or with what is `otherwise` the
    condition of a word; or with a name like all of them in one word.
    """
    whole = "".join(words)
    like = similar(rows, [*words, whole], NAMES)
    each = Q(*(like[word] | otherwise.get(word, like[word]) for word in words))
    return rows.filter(each | like[whole])


def _words(text: str) -> list[str]:
    return [word.strip('"“”«»') or word for word in search_words(text)]


def _has(word: str, *columns: str) -> Q:
    """The condition that one of the `columns` has `word`, without case and accents."""
    return reduce(or_, (Q(**{f"{column}__folded_contains": word}) for column in columns))


def _with_word(model: Any, word: str, *, tags: bool) -> Q:
    """Names, vacancies, accounts and tags are searched once each, not once per application."""
    vacancies, accounts, links = (
        model._meta.get_field(name).related_model._base_manager
        for name in ("vacancy", "user", "tag_links")
    )
    columns = ("given_name", "family_name", "email_folded")
    named: Any = _has(word, *columns)
    if connection.vendor == "postgresql" and len(word) > 2:  # as the trigram index has it
        named = FoldedContains(Joined(*columns), word)
    by_account = _has(word, "username", "first_name", "last_name", "email")
    found = (
        Q(pk__in=model._base_manager.filter(named).values("pk"))
        | Q(user__in=accounts.filter(by_account).values("pk"))
        | Q(reference=word.upper())
    )
    if words := query_words(word).all:
        found |= Q(vacancy__in=vacancies.filter(*map(in_title, words)).values("pk"))
    if word.isascii() and word.isdigit() and len(word) < 19:
        found |= Q(vacancy=int(word))
    if tags:
        tagged = links.filter(tag__folded__contains=fold(word))
        found |= Q(pk__in=tagged.values("application"))
    return found
