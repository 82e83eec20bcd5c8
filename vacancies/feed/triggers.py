"""The triggers on SQLite that write the entries and touches. On PostgreSQL, migration 0010 creates
them.

A trigger raises the revision itself: SQLite does not define the order of two triggers, and the
commit must have a number that no reader had before. That another trigger raises it too is harmless.
"""

from itertools import product

from jobsite.serving.revision import create_on_sqlite
from vacancies.models import TouchKind

CHILDREN = ("vacancyoption", "vacancyrecruiter", "attachment", "place", "vacancytext")
SHOWN = {  # the columns that items show
    "filteroption": (TouchKind.OPTION, "label translations"),
    "brand": (
        TouchKind.BRAND,
        "name slug description url vacancy_url host "
        "icon_small icon_small_url icon_large icon_large_url",
    ),
    "recruiter": (
        TouchKind.RECRUITER,
        "name function email is_email_public phone is_phone_public image image_url",
    ),
}
COMMIT = """
  INSERT INTO jobsite_revision (id, number, shared) VALUES (1, 1, 0)
    ON CONFLICT (id) DO UPDATE SET number = number + 1;
  INSERT INTO jobsite_commit (number, mark, at)
    SELECT number, number, strftime('%Y-%m-%d %H:%M:%f', 'now') FROM jobsite_revision;"""
_TRIGGER = f"""CREATE TRIGGER IF NOT EXISTS vacancies_{{table}}_{{verb}}_feed
AFTER {{verb}} ON vacancies_{{table}} WHEN {{condition}} BEGIN{COMMIT}{{statement}}
END"""
_TOUCH = """
  INSERT INTO vacancies_feedtouch (mark, kind, object_id)
    SELECT number, '{kind}', NEW.id FROM jobsite_revision;"""
_ENTRY = """
  INSERT INTO vacancies_feedentry (vacancy_id, mark, was_external, was_internal, has_moved)
    SELECT {row}.id, number, {external}, {internal}, {moved} FROM jobsite_revision{source}
    ON CONFLICT (vacancy_id) DO UPDATE SET mark = excluded.mark,
      was_external = was_external OR excluded.was_external,
      was_internal = was_internal OR excluded.was_internal,
      has_moved = has_moved OR excluded.has_moved;"""
# Clients may have read the row in the public or the internal list.
_WAS = """({row}.status = 'published' AND {row}.audience IN ('{audience}', 'both')
      AND {row}.publish_from <= strftime('%Y-%m-%d %H:%M:%f', 'now', '+5 minutes'))"""
_PARENTS = "vacancies_vacancy AS vacancy WHERE vacancy.status = 'published' AND vacancy.id IN ({})"
_IDS = {  # of the vacancies of a child
    "INSERT": "NEW.vacancy_id",
    "UPDATE": "OLD.vacancy_id, NEW.vacancy_id",
    "DELETE": "OLD.vacancy_id",
}


def create_triggers(using: str, **kwargs: object) -> None:
    """post_migrate receiver: create the triggers on SQLite."""
    create_on_sqlite(using, "vacancies_feedentry", _statements())


def _statements() -> list[str]:
    old, new = "OLD.status = 'published'", "NEW.status = 'published'"
    leaves = f"{old} AND NOT ({new} AND NEW.brand_id IS OLD.brand_id)"
    rows = [
        ("vacancy", "INSERT", new, _entry("NEW", was=None)),
        ("vacancy", "UPDATE", f"{old} OR {new}", _entry("NEW", was="OLD", moved=leaves)),
        ("vacancy", "DELETE", old, _entry("OLD", was="OLD", moved="1")),
    ]
    for child, (verb, ids) in product(CHILDREN, _IDS.items()):
        parents = _PARENTS.format(ids)
        entry = _entry("vacancy", was="vacancy", source=f", {parents}")
        rows.append((child, verb, f"EXISTS (SELECT 1 FROM {parents})", entry))
    for table, (kind, columns) in SHOWN.items():
        differs = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in columns.split())
        rows.append((table, "UPDATE", differs, _TOUCH.format(kind=kind)))
    return [
        _TRIGGER.format(table=table, verb=verb, condition=condition, statement=statement)
        for table, verb, condition, statement in rows
    ]


def _entry(row: str, *, was: str | None, moved: str = "0", source: str = " WHERE true") -> str:
    external, internal = (
        _WAS.format(row=was, audience=audience) if was else "0"
        for audience in ("public", "internal")
    )
    return _ENTRY.format(row=row, external=external, internal=internal, moved=moved, source=source)
