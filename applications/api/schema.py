"""What the keys of an application and of a token mean, in the words of OpenAPI."""

from jobsite.api.openapi import DATETIME_PATTERN, field, reference
from vacancies.api.schema import VACANCY
from vacancies.api.v1 import VacancySerializer

_MOMENT = {"pattern": DATETIME_PATTERN}
_ZONE = "`YYYY-MM-DD HH:MM:SS` in the time zone of the site."

HISTORY_ENTRY = {
    "name": field("string", "Name of the step.", "First interview"),
    "result": field("string", "Result of the step; empty while it has none.", "passed"),
    "planned_at": field(
        "string",
        "When it is planned: `YYYY-MM-DD HH:MM:SS.mmm` in the time zone of the site.",
        "2026-11-12 10:00:00.000",
        pattern=DATETIME_PATTERN.replace("$", r"\.[0-9]{3}$"),
    ),
    "updated_at": field("string", f"Last change. {_ZONE}", "2026-11-10 09:12:44", **_MOMENT),
    "created_at": field("string", f"Creation. {_ZONE}", "2026-11-09 16:03:20", **_MOMENT),
}
APPLICATION = {name: VACANCY[name] for name in VacancySerializer.Meta.fields} | {
    "status": field("string", "Where the application stands, in the language of the answer.", "In interview"),
    "is_spontaneous": field("boolean", "Whether it was sent without a vacancy that asked for it.", False),
    "history": field(
        "array",
        "Steps that the applicant may see, in order. Absent where the site shows none.",
        [{name: schema["examples"][0] for name, schema in HISTORY_ENTRY.items()}],
        items=reference("HistoryEntry"),
    ),
}
