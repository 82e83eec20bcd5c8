"""The triggers on SQLite that note which applications changed. On PostgreSQL, migration 0008
creates them.
"""

from jobsite.serving.revision import create_on_sqlite

_NOTE = """
  INSERT INTO applications_outgoing (application, brand, mark, is_gone, at)
    SELECT {application}, coalesce({brand}, 0),
      (SELECT coalesce(max(mark), 0) + 1 FROM applications_outgoing), {gone},
      strftime('%Y-%m-%d %H:%M:%f', 'now') FROM {source}
    ON CONFLICT (application, brand) DO UPDATE
      SET mark = excluded.mark, is_gone = excluded.is_gone, at = excluded.at;"""
_OWN = "vacancies_vacancy AS vacancy WHERE vacancy.id = {row}.vacancy_id"
_PART = (
    "applications_application AS application JOIN vacancies_vacancy AS vacancy "
    "ON vacancy.id = application.vacancy_id WHERE application.id = {row}.application_id"
)
_ALL = "applications_application AS application WHERE application.vacancy_id = NEW.id"


def _note(application: str, brand: str, gone: bool, source: str) -> str:
    return _NOTE.format(application=application, brand=brand, gone=int(gone), source=source)


def _statements() -> list[str]:
    own, part, brand = "applications_application", _PART.format, "vacancy.brand_id"
    new = _note("NEW.id", brand, False, _OWN.format(row="NEW"))
    old = _note("OLD.id", brand, True, _OWN.format(row="OLD"))
    moved = _note("id", "OLD.brand_id", True, _ALL) + _note("id", "NEW.brand_id", False, _ALL)
    # An update notes the old brand as gone, and then the new one: mostly the same row.
    rows: list[tuple[str, str, str, str]] = [
        (own, "INSERT", "", new),
        (own, "UPDATE", "", old + new),
        (own, "DELETE", "", old),
        ("vacancies_vacancy", "UPDATE", "OF brand_id", moved),
    ]
    for table in ("applications_historyentry", "applications_consentrequest"):
        for verb, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            rows.append((table, verb, "", _note("application.id", brand, False, part(row=row))))
    return [
        f"CREATE TRIGGER IF NOT EXISTS {table}_{verb}_outgoing AFTER {verb} {of} ON {table}\n"
        f"{'WHEN OLD.brand_id IS NOT NEW.brand_id ' if 'brand' in of else ''}BEGIN{statement}\nEND"
        for table, verb, of, statement in rows
    ]


def create_triggers(using: str, **kwargs: object) -> None:
    """post_migrate receiver: create the triggers on SQLite."""
    create_on_sqlite(using, "applications_outgoing", _statements())
