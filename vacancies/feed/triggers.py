"""The triggers on SQLite that write the entries and touches. On PostgreSQL, migration 0010 creates
them.

A trigger raises the revision itself: SQLite does not define the order of two triggers, and the
commit must have a number that no reader had before. That another trigger raises it too is harmless.
"""

from jobsite.serving.revision import create_on_sqlite
from vacancies.models import TouchKind

CHILDREN = ("vacancyoption", "vacancyrecruiter", "attachment", "place", "vacancytext")
SHOWN = {
    "filteroption": (TouchKind.OPTION, ("label", "translations")),
    "brand": (
        TouchKind.BRAND,
        (
            "name",
            "slug",
            "description",
            "url",
            "vacancy_url",
            "host",
            "icon_small",
            "icon_small_url",
            "icon_large",
            "icon_large_url",
        ),
    ),
    "recruiter": (
        TouchKind.RECRUITER,
        (
            "name",
            "function",
            "email",
            "is_email_public",
            "phone",
            "is_phone_public",
            "image",
            "image_url",
        ),
    ),
}
COMMIT = """
  INSERT INTO jobsite_revision (id, number, shared) VALUES (1, 1, 0)
    ON CONFLICT (id) DO UPDATE SET number = number + 1;
  INSERT INTO jobsite_commit (number, mark, at)
    SELECT number, number, strftime('%Y-%m-%d %H:%M:%f', 'now') FROM jobsite_revision;"""
_TRIGGER = f"""CREATE TRIGGER IF NOT EXISTS {{table}}_{{verb}}_{{row}}_feed AFTER {{verb}} ON {{table}}
WHEN {{condition}} BEGIN{COMMIT}{{statement}}
END"""
_TOUCH = """
  INSERT INTO vacancies_feedtouch (mark, kind, object_id)
    SELECT number, '{kind}', {object} FROM jobsite_revision;"""
_ENTRY = """
  INSERT INTO vacancies_feedentry (vacancy_id, mark, was_external, was_internal, has_moved)
    SELECT {pk}, number, {external}, {internal}, {moved} FROM {source} WHERE {wanted}
    ON CONFLICT (vacancy_id) DO UPDATE SET mark = excluded.mark,
      was_external = was_external OR excluded.was_external,
      was_internal = was_internal OR excluded.was_internal,
      has_moved = has_moved OR excluded.has_moved;"""


def create_triggers(using: str, **kwargs: object) -> None:
    """post_migrate receiver: create the triggers on SQLite."""
    create_on_sqlite(using, "vacancies_feedentry", _statements())


def _statements() -> list[str]:
    old, new = "OLD.status = 'published'", "NEW.status = 'published'"
    stays = f"({new} AND NEW.brand_id IS OLD.brand_id)"
    vacancy = "vacancies_vacancy"
    return [
        _trigger(vacancy, "INSERT", "NEW", new, _entry("NEW.id", "0", "0", "0")),
        _trigger(
            vacancy,
            "UPDATE",
            "NEW",
            f"{old} OR {new}",
            _entry("NEW.id", *_was("OLD"), f"{old} AND NOT {stays}"),
        ),
        _trigger(vacancy, "DELETE", "OLD", old, _entry("OLD.id", *_was("OLD"), "1")),
        *(
            _trigger(
                f"vacancies_{child}", verb, row, f"{also}{_is_published(row)}", _child_entry(row)
            )
            for child in CHILDREN
            for verb, row, also in (
                ("INSERT", "NEW", ""),
                ("UPDATE", "OLD", "OLD.vacancy_id <> NEW.vacancy_id AND "),
                ("UPDATE", "NEW", ""),
                ("DELETE", "OLD", ""),
            )
        ),
        *(
            _trigger(
                f"vacancies_{table}",
                "UPDATE",
                "NEW",
                " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in columns),
                _TOUCH.format(kind=kind, object="NEW.id"),
            )
            for table, (kind, columns) in SHOWN.items()
        ),
    ]


def _trigger(table: str, verb: str, row: str, condition: str, statement: str) -> str:
    return _TRIGGER.format(
        table=table, verb=verb, row=row, condition=condition, statement=statement
    )


def _was(row: str) -> tuple[str, str]:
    """The conditions that clients may have read the row in the public and in the internal list."""
    begun = f"{row}.publish_from <= strftime('%Y-%m-%d %H:%M:%f', 'now', '+5 minutes')"
    return tuple(  # type: ignore[return-value]
        f"({row}.status = 'published' AND {row}.audience IN ('{audience}', 'both') AND {begun})"
        for audience in ("public", "internal")
    )


def _entry(pk: str, external: str, internal: str, moved: str) -> str:
    return _ENTRY.format(
        pk=pk,
        external=external,
        internal=internal,
        moved=moved,
        source="jobsite_revision",
        wanted="true",
    )


def _is_published(row: str) -> str:
    return (
        f"EXISTS (SELECT 1 FROM vacancies_vacancy WHERE id = {row}.vacancy_id "
        "AND status = 'published')"
    )


def _child_entry(row: str) -> str:
    external, internal = _was("vacancy")
    return _ENTRY.format(
        pk="vacancy.id",
        external=external,
        internal=internal,
        moved="0",
        source="jobsite_revision, vacancies_vacancy AS vacancy",
        wanted=f"vacancy.id = {row}.vacancy_id",
    )
