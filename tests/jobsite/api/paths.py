"""Paths of the lists of the API."""

PATHS = [
    "/v1/vacancies",
    "/v1/vacancies/hot",
    "/v1/vacancies/internal",
    "/v1/vacancies/hot/internal",
    "/v0.1/vacancies",
    "/v0.1/vacancies/internal",
    "/v1/filters",
]
INTERNAL = [path for path in PATHS if path.endswith("/internal")]
