"""The pages beside the form of a vacancy: preview, application form, review of unsaved changes."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import all_valid
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, reverse
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.db.transactions import dry_run
from vacancies.admin.base import storage_errors_as_507
from vacancies.admin.conflict import ConflictAdmin
from vacancies.history.diff import differences
from vacancies.history.versions import content
from vacancies.models import Vacancy
from vacancies.previews import token_for


class VacancyPagesAdmin(ConflictAdmin):
    """The preview, the application form and the review of a vacancy."""

    def get_urls(self) -> list[URLPattern]:
        own = {"preview": self.preview_view, "application-form": self.form_view, "review": self.review_view}
        return [*self.object_urls(own), *super().get_urls()]

    def _vacancy_or_404(self, request: HttpRequest, object_id: str) -> Vacancy:
        vacancy = get_object_or_404(self.get_queryset(request).with_form(), pk=as_id(object_id))
        if not self.has_view_permission(request, vacancy):
            raise PermissionDenied
        return vacancy

    def preview_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Redirect to a new preview link, which works without an account."""
        return redirect("preview", token_for(self._vacancy_or_404(request, object_id).pk))

    def form_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Redirect to the form builder with the form that applicants of this vacancy get."""
        vacancy = self._vacancy_or_404(request, object_id)
        if vacancy.served_form_id is None:
            text = _(
                "This vacancy has no application form. Add a form and choose it for the vacancy, its "
                "brand or the site."
            )
            self.message_user(request, text, messages.INFO)
            return redirect("admin:forms_structure_form_changelist")
        url = reverse("admin:forms_structure_form_change", args=[vacancy.served_form_id])
        return redirect(f"{url}?for={vacancy.pk}")

    @storage_errors_as_507
    def review_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return an HTML fragment with what saving the posted form would change for the public, by a dry run.

        What somebody else saved meanwhile is merged. An invalid form, or one with conflicts, returns 422:
        saving it shows them.
        """
        if request.method != "POST":
            raise Http404
        vacancy = self._vacancy_or_404(request, object_id)
        if not self.has_change_permission(request, vacancy):
            raise PermissionDenied
        with dry_run(True):
            vacancy = Vacancy.objects.select_for_update().get(pk=vacancy.pk)
            before = content(vacancy)
            if merge := self.merge_of(request, vacancy):
                if not merge.is_complete:
                    return HttpResponse(status=422)
                self.post_merged(request, merge)
            form = self.get_form(request, vacancy, change=True)(request.POST, request.FILES, instance=vacancy)
            formsets, _inlines = self._create_formsets(request, vacancy, change=True)
            if not (form.is_valid() and all_valid(formsets)):
                return HttpResponse(status=422)
            form.save(commit=False).save()
            form.save_m2m()
            for formset in formsets:
                formset.save()
            found = differences(before, content(vacancy))
        for part in (form, *(row for formset in formsets for row in formset.forms)):
            for name in part.changed_data if part.files else ():
                file = getattr(part.instance, name, None)
                # Delete the uploaded file again. Rows marked as deleted never stored theirs.
                if part.files.get(part.add_prefix(name)) and file and file._committed:
                    file.storage.delete(file.name)
        return render(request, "admin/vacancies/vacancy/differences.html", {"differences": found})
