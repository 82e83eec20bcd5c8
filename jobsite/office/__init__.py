"""Composition: what joins the apps in the admin, as the start page, the search, the reports, and
the pages of vacancies, brands, users and forms. No app imports it. Importing it registers its pages.
"""

from jobsite.office import brand, consent, form, user, vacancy  # noqa: F401 - importing registers
