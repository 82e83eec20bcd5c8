from tests.vacancies.api.conftest import site

__all__ = ["site"]
