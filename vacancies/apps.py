from django.apps import AppConfig


class VacanciesConfig(AppConfig):
    name = "vacancies"
    shown = (  # whose rows the public sees (jobsite/revision.py)
        "Vacancy", "VacancyOption", "VacancyRecruiter", "Attachment", "Brand", "Recruiter", "Filter",
        "FilterOption",
    )  # fmt: skip
    verbose_name = "Vacancies"
