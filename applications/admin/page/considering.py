"""The pages that consider an applicant for another vacancy, and that move an application there."""

from collections.abc import Callable
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
from applications.operations.other_vacancy import (
    ChangedAgainError,
    move_to_vacancy,
    undo_move_to_vacancy,
    undoable_change,
)
from jobsite.admin.base import as_id
from jobsite.api.absolute_urls import base_url
from jobsite.languages import site_language
from jobsite.text.formats import format_datetime
from jobsite.types import Context, StrOrPromise, UserRequest
from vacancies.choices import VacancyStatus
from vacancies.models import Vacancy
from vacancies.querysets import VacancyQuerySet
from vacancies.search.rows import best_first, matching

OFFERED = 20  # vacancies, the best of the newest FOUND
FOUND = 1_000
CONSIDER: Context = {
    "title": _("Consider for a vacancy"),
    "button": _("Create an application for"),
}
MOVE: Context = {"title": _("Move to another vacancy"), "button": _("Move the application to")}


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
    """Considering an applicant for another vacancy, and moving an application there."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls(
            {
                "consider": self.consider_view,
                "vacancy": self.vacancy_view,
                "undo-vacancy": self.undo_vacancy_view,
            }
        )

    def consider_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET offers vacancies, those that `q` finds; POST creates the application to `vacancy`."""
        application = self.application_or_404(request, object_id, CHANGE)
        vacancies = _vacancies(request.user, application)
        return self._choose(
            request, application, vacancies, self._considered, CONSIDER | {"is_copied": True}
        )

    def vacancy_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET offers vacancies, those that `q` finds; POST moves the application to `vacancy`."""
        application = self.application_or_404(request, object_id, CHANGE)
        vacancies = _vacancies(request.user, application, has_open=True)
        more = {"undoable": undoable_change(application)}
        return self._choose(request, application, vacancies, self._moved, MOVE | more)

    def undo_vacancy_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Undo the posted change of the vacancy."""
        application = self.posted_to(request, object_id, CHANGE)
        change = undoable_change(application)
        sent = as_id(request.POST.get("change"))
        try:
            if change is None or change.pk != sent:
                raise ChangedAgainError
            undo_move_to_vacancy(
                change=change, author=request.user, base_url=base_url(request), at=timezone.now()
            )
        except ChangedAgainError:
            text = gettext("Not undone: the application was moved again, or the vacancy deleted.")
            self.message(request, text, messages.WARNING)
        except AlreadyThereError as error:
            self.message(request, _already_there(error), messages.ERROR)
        except Application.DoesNotExist:
            raise Http404 from None  # erased meanwhile
        else:
            self._log(request, [application], _("Moved back to “%(vacancy)s”."), change.before)
            text = gettext("The application is on “%(vacancy)s” again.")
            self.message(request, text % {"vacancy": change.before}, messages.SUCCESS)
        return redirect(self.page_of(request, application))

    def _choose(
        self,
        request: UserRequest,
        application: Application,
        vacancies: VacancyQuerySet,
        done: Callable[[UserRequest, Application, Vacancy], HttpResponse],
        context: Context,
    ) -> HttpResponse:
        """Show the `vacancies` that `q` finds, or do what `done` does with the posted one."""
        query = request.GET.get("q", "")
        form = ConsiderForm(request.POST if request.method == "POST" else None, vacancies=vacancies)
        if form.is_valid():
            try:
                return done(request, application, form.cleaned_data["vacancy"])
            except AlreadyThereError as error:
                form.add_error("vacancy", _already_there(error))
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
            **self.context(request, str(context["title"])),
            **{name: value for name, value in context.items() if name != "title"},
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
            application=application,
            vacancy=vacancy,
            author=request.user,
            base_url=base_url(request),
            at=timezone.now(),
        )
        self._log(request, [application, copy], _("Considered for “%(vacancy)s”."), vacancy)
        text = (
            gettext("The application was created. No email was sent.")
            if application.is_spontaneous or not copy.address
            else gettext("The application was created. The applicant gets a notice by email.")
        )
        self.message(request, text, messages.SUCCESS)
        return redirect(self.page_of(request, copy))

    def _moved(
        self, request: UserRequest, application: Application, vacancy: Vacancy
    ) -> HttpResponse:
        change = move_to_vacancy(
            application=application,
            vacancy=vacancy,
            author=request.user,
            base_url=base_url(request),
            at=timezone.now(),
        )
        text = _("Moved from “%(before)s” to “%(vacancy)s”.")
        self._log(request, [application], text, vacancy, before=change.before)
        url = reverse("admin:applications_application_vacancy", args=[application.pk])
        link = format_html('<a class="text-link" href="{}#undo">{}</a>', url, gettext("Undo…"))
        done = gettext("The application is on “%(vacancy)s” now.") % {"vacancy": vacancy}
        self.message(request, format_html("{} {}", done, link), messages.SUCCESS)
        if change.notice:
            told = gettext("The applicant gets a corrected notice on %(time)s.")
            time = format_datetime(change.notice.queued_at)
            self.message(request, told % {"time": time}, messages.SUCCESS)
        return redirect(self.page_of(request, application))

    def _log(
        self,
        request: UserRequest,
        applications: list[Application],
        text: StrOrPromise,
        vacancy: Vacancy | None,
        **values: object,
    ) -> None:
        log_access(request.user, Access.CHANGE, *(each.pk for each in applications))
        with translation.override(site_language()):  # stored, and read by all users
            stored = str(text) % {"vacancy": vacancy, **values}
        LogEntry.objects.log_actions(request.user.pk, applications, CHANGED, stored)  # type: ignore[arg-type]


def _already_there(error: AlreadyThereError) -> str:
    url = reverse("admin:applications_application_change", args=[error.application.pk])
    text = gettext("The applicant has an application to this vacancy: {}.")
    name = error.application.display_name
    link = format_html('<a class="text-link" href="{}">{}</a>', url, name)
    return format_html(text, link)


def _vacancies(user: User, application: Application, has_open: bool = False) -> VacancyQuerySet:
    """Return the vacancies of the same brand that `user` may consider the applicant for; those for
    open applications only if `has_open`.
    """
    rows = Vacancy.objects.editable_by(user).without_texts().exclude(pk=application.vacancy_id)
    rows = rows.filter(brand=application.vacancy.brand_id).exclude(status=VacancyStatus.ARCHIVED)
    return rows if has_open else rows.exclude(requisition__is_for_open_applications=True)
