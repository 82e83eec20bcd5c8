"""Composition: the career site, pages of the vacancies for visitors (CAREER_SITE)."""
