from django.apps import AppConfig


class JobsiteConfig(AppConfig):
    name = "jobsite"

    def ready(self) -> None:
        from jobsite import checks  # noqa: F401 - registers the system checks
