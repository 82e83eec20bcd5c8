"""What the pages of a form share: access, addresses, and the vacancies that use the form."""

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse

from forms_structure import structure
from forms_structure.models import Form
from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.types import JsonObject, UserRequest


class FormBaseAdmin(JobsiteAdmin):
    """Access to forms. vacancies.admin overrides the methods about vacancies."""

    def address(self, view: str, form: Form) -> str:
        return reverse(f"admin:forms_structure_form_{view}", args=[form.pk])

    def form_or_404(self, request: UserRequest, object_id: str) -> Form:
        """Return the form. Raises Http404 unless it is in the user's changelist."""
        forms = self.get_queryset(request).defer(None).select_related("extends")
        form = forms.filter(pk__in=[as_id(object_id)]).first()
        if form is None:
            raise Http404("There is no such form.")
        if not self.has_view_or_change_permission(request, form):
            raise PermissionDenied
        return form

    # --- vacancies that use a form ---

    def use(self, request: UserRequest, form: Form) -> JsonObject:
        """Return {"total", "published", "some": [{"label", "url"}]} of the vacancies that use `form`.
        `some` has only vacancies that the user may view."""
        return {"total": 0, "published": 0, "some": []}

    def is_public(self, form: Form) -> bool:
        """Return whether published vacancies use `form`, so that its names may have answers."""
        return False

    def user(self, request: UserRequest, key: object) -> JsonObject | None:
        """Return {"id", "label", "url"} of the vacancy `key` that the builder was opened for."""
        return None

    def give(self, request: UserRequest, form: Form, key: object) -> None:
        """Let the vacancy `key` use `form`."""

    def frozen(self, form: Form) -> list[str]:
        """Return the names that cannot change while published vacancies use them."""
        return structure.names(form.structure) if self.is_public(form) else []

    def demand(self, verb: str, request: UserRequest, *form: Form) -> None:
        """Raise PermissionDenied unless the user has the permission `verb`, on `form` if given."""
        if not getattr(self, f"has_{verb}_permission")(request, *form):
            raise PermissionDenied
