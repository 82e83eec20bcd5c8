"""The triggers on SQLite that note which applications changed. On PostgreSQL, migrations 0008 and
0012 create them.
"""

from jobsite.serving.revision import create_on_sqlite

_NOTE = """
  INSERT INTO applications_outgoing (application, brand, mark, is_gone, at, entered)
    SELECT {application}, coalesce({brand}, 0), next.mark, {gone},
      strftime('%Y-%m-%d %H:%M:%f', 'now'), CASE WHEN {enters} THEN
        CASE WHEN NOT EXISTS (SELECT 1 FROM applications_consentrequest AS asked
          WHERE asked.application_id = {application} AND purpose = 'application' AND answer = '')
        THEN next.mark END ELSE 0 END
      FROM (SELECT coalesce(max(mark), 0) + 1 AS mark FROM applications_outgoing) AS next, {source}
    ON CONFLICT (application, brand) DO UPDATE
      SET mark = excluded.mark, is_gone = excluded.is_gone, at = excluded.at,
        entered = CASE WHEN {enters} THEN excluded.entered ELSE entered END;"""
# An applicant who is asked at once: nobody has read the application.
_ASKED = """
  UPDATE applications_outgoing SET entered = NULL
    WHERE application = NEW.application_id AND NEW.purpose = 'application' AND NEW.answer = ''
      AND julianday(NEW.asked_at) < julianday((SELECT created_at FROM applications_application
        WHERE id = NEW.application_id), '+1 minute');"""
_ANSWERED = """
  UPDATE applications_outgoing SET entered = mark
    WHERE application = NEW.application_id AND is_gone = 0 AND NEW.purpose = 'application'
      AND OLD.answer = '' AND NEW.answer <> '';"""
_OWN = "vacancies_vacancy AS vacancy WHERE vacancy.id = {row}.vacancy_id"
_PART = (
    "applications_application AS application JOIN vacancies_vacancy AS vacancy "
    "ON vacancy.id = application.vacancy_id WHERE application.id = {row}.application_id"
)
_ALL = "applications_application AS application WHERE application.vacancy_id = NEW.id"
_BRAND = "(SELECT brand_id FROM vacancies_vacancy WHERE id = {row}.vacancy_id)"
_MOVES = f"{_BRAND.format(row='OLD')} IS NOT {_BRAND.format(row='NEW')}"


def _note(application: str, brand: str, gone: bool, source: str, enters: str = "0") -> str:
    return _NOTE.format(
        application=application, brand=brand, gone=int(gone), source=source, enters=enters
    )


def _statements() -> list[str]:
    own, part, brand = "applications_application", _PART.format, "vacancy.brand_id"
    new, changed = (
        _note("NEW.id", brand, False, _OWN.format(row="NEW"), enters) for enters in ("1", _MOVES)
    )
    old = _note("OLD.id", brand, True, _OWN.format(row="OLD"))
    moved = _note("application.id", "OLD.brand_id", True, _ALL)
    moved += _note("application.id", "NEW.brand_id", False, _ALL, "1")
    # An update notes the old brand as gone, and then the new one: mostly the same row.
    rows: list[tuple[str, str, str, str]] = [
        (own, "INSERT", "", new),
        (own, "UPDATE", "", old + changed),
        (own, "DELETE", "", old),
        ("vacancies_vacancy", "UPDATE", "OF brand_id", moved),
    ]
    consents = "applications_consentrequest"
    more = {(consents, "INSERT"): _ASKED, (consents, "UPDATE"): _ANSWERED}
    for table in ("applications_historyentry", consents):
        for verb, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            note = _note("application.id", brand, False, part(row=row))
            rows.append((table, verb, "", note + more.get((table, verb), "")))
    return [
        f"CREATE TRIGGER IF NOT EXISTS {table}_{verb}_outgoing AFTER {verb} {of} ON {table}\n"
        f"{'WHEN OLD.brand_id IS NOT NEW.brand_id ' if 'brand' in of else ''}BEGIN{statement}\nEND"
        for table, verb, of, statement in rows
    ]


def create_triggers(using: str, **kwargs: object) -> None:
    """post_migrate receiver: create the triggers on SQLite."""
    create_on_sqlite(using, "applications_outgoing", _statements())
