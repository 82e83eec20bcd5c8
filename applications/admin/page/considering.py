"""The page that considers an open application for a vacancy of the same brand."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE as CHANGED
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone, translation
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from applications.admin.parts import CHANGE, ApplicationPages, carried
from applications.models import Access, Application
from applications.operations.access_log import log_access
from applications.operations.considering import AlreadyThereError, consider
from jobsite.languages import site_language
from jobsite.types import UserRequest
from vacancies.choices import VacancyStatus
from vacancies.models import Vacancy
from vacancies.querysets import VacancyQuerySet
from vacancies.search.rows import best_first, matching

OFFERED = 20  # vacancies, the best of the newest FOUND
FOUND = 1_000


class ConsiderForm(forms.Form):
    vacancy = forms.ModelChoiceField(
        Vacancy.objects.none(),
        label=_("Vacancy"),
        error_messages={"required": _("Choose a vacancy.")},
    )

    def __init__(self, data: Any, *, vacancies: QuerySet) -> None:
        super().__init__(data)
        field: Any = self.fields["vacancy"]
        field.queryset = vacancies


class ConsideringPages(ApplicationPages):
    """Considering an open application for a vacancy."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls({"consider": self.consider_view})

    def consider_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET offers vacancies, those that `q` finds; POST creates the application to `vacancy`."""
        application = self.application_or_404(request, object_id, CHANGE)
        # whoever applied for one job did not ask to be considered for others
        if not application.is_spontaneous:
            raise Http404
        vacancies = _vacancies(request.user, application)
        query = request.GET.get("q", "")
        form = ConsiderForm(request.POST if request.method == "POST" else None, vacancies=vacancies)
        if form.is_valid():
            try:
                return self._considered(request, application, form.cleaned_data["vacancy"])
            except AlreadyThereError as error:
                url = reverse("admin:applications_application_change", args=[error.application.pk])
                text = gettext("The applicant has an application to this vacancy: {}.")
                link = format_html(
                    '<a class="text-link" href="{}">{}</a>', url, error.application.display_name
                )
                form.add_error("vacancy", format_html(text, link))
            except Application.DoesNotExist:
                raise Http404 from None  # erased meanwhile
            except OSError:
                text = gettext(
                    "A file of the application cannot be copied. Nothing was created. Try again "
                    "later."
                )
                form.add_error("vacancy", text)
        log_access(request.user, Access.VIEW, application.pk)
        context = {
            **self.context(request, gettext("Consider for a vacancy")),
            "application": application,
            "form": form,
            "query": query,
            "vacancies": self._offered(request, vacancies, query),
            "back": self.page_of(request, application),
            "carried": carried(request),
        }
        template = "admin/applications/application/page/consider.html"
        return TemplateResponse(request, template, context, status=422 if form.errors else 200)

    def _offered(
        self, request: UserRequest, vacancies: VacancyQuerySet, query: str
    ) -> list[Vacancy]:
        """Return the first of `vacancies` that `query` finds, the best first."""
        try:
            found = matching(vacancies, query) if query.strip() else vacancies
        except ValidationError as error:
            found = vacancies.none()
            self.message(request, error.message, messages.ERROR)
        names = ("title_folded", "reference")
        first = best_first(found.order_by("-pk"), query, *names, number=FOUND)[:OFFERED]
        by_pk = vacancies.in_bulk(first)
        return [by_pk[pk] for pk in first if pk in by_pk]

    def _considered(
        self, request: UserRequest, application: Application, vacancy: Vacancy
    ) -> HttpResponse:
        copy = consider(
            application=application, vacancy=vacancy, author=request.user, at=timezone.now()
        )
        log_access(request.user, Access.CHANGE, application.pk, copy.pk)
        with translation.override(site_language()):  # stored, and read by all users
            text = gettext("Considered for “%(vacancy)s”.") % {"vacancy": vacancy}
        LogEntry.objects.log_actions(request.user.pk, [application, copy], CHANGED, text)  # type: ignore[list-item]
        self.message(
            request, gettext("The application was created. No email was sent."), messages.SUCCESS
        )
        return redirect(self.page_of(request, copy))


def _vacancies(user: User, application: Application) -> VacancyQuerySet:
    """Return the vacancies of the same brand that `user` may consider the applicant for."""
    rows = Vacancy.objects.editable_by(user).without_texts().exclude(pk=application.vacancy_id)
    rows = rows.filter(brand=application.vacancy.brand_id).exclude(status=VacancyStatus.ARCHIVED)
    return rows.exclude(requisition__is_for_open_applications=True)
