"""The pages beside the form of a vacancy: preview, application form, review of unsaved changes."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.types import UserRequest
from vacancies.access.previews import token_for
from vacancies.admin.edit.conflict import merge_posted, merged_data
from vacancies.admin.edit.forms import make_forms
from vacancies.history.diff import differences
from vacancies.models import Vacancy
from vacancies.operations.save import Edit, plan_save


class VacancyPages(AdminPages):
    """The preview, the application form and the review of a vacancy."""

    def urls(self) -> list[URLPattern]:
        one = "<path:object_id>"
        return [
            self.url(f"{one}/preview/", self.preview_view, "preview"),
            self.url(f"{one}/application-form/", self.form_view, "application_form"),
            self.url(f"{one}/review/", self.review_view, "review"),
        ]

    def _vacancy_or_404(self, request: UserRequest, object_id: str) -> Vacancy:
        rows = self.admin.get_queryset(request).with_form()
        vacancy: Vacancy = get_object_or_404(rows, pk=as_id(object_id))
        if not self.admin.has_view_permission(request, vacancy):
            raise PermissionDenied
        return vacancy

    def preview_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Redirect to a new preview link, which works without an account."""
        vacancy = self._vacancy_or_404(request, object_id)
        language = urlencode({name: request.GET[name] for name in {"language"} & {*request.GET}})
        url = reverse("preview", args=[token_for(vacancy.pk)])
        return redirect(f"{url}?{language}" if language else url)

    def form_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Redirect to the form builder with the form that applicants of this vacancy get."""
        vacancy = self._vacancy_or_404(request, object_id)
        if vacancy.served_form_id is None:
            text = _(
                "This vacancy has no application form. Add a form and choose it for the vacancy, "
                "its brand or the site."
            )
            self.admin.message_user(request, text, messages.INFO)
            return redirect("admin:forms_structure_form_changelist")
        url = reverse("admin:forms_structure_form_change", args=[vacancy.served_form_id])
        return redirect(f"{url}?for={vacancy.pk}")

    def review_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Return an HTML fragment with what saving the posted form would change. Writes nothing.

        What somebody else saved meanwhile is merged. An invalid form, or one with conflicts,
        returns 422: saving it shows them.
        """
        if request.method != "POST":
            raise Http404
        vacancy = self._vacancy_or_404(request, object_id)
        if not self.admin.has_change_permission(request, vacancy):
            raise PermissionDenied
        merge = merge_posted(self.admin, request, vacancy)
        if merge and not merge.is_complete:
            return HttpResponse(status=422)
        data, files = merged_data(request, merge)
        forms = make_forms(self.admin, request, vacancy, data=data, files=files)
        if not forms.is_valid():
            return HttpResponse(status=422)
        try:
            plan = plan_save(
                Vacancy.objects.get(pk=vacancy.pk), Edit(forms.content()), at=timezone.now()
            )
        except ValidationError:
            return HttpResponse(status=422)
        found = differences(plan.before, plan.after)
        return render(
            request, "admin/vacancies/vacancy/publication/differences.html", {"differences": found}
        )
