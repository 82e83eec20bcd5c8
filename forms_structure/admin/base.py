"""What the pages of a form share: access and addresses."""

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse

from forms_structure import structure
from forms_structure.models import Form
from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.types import UserRequest


def address(view: str, form: Form) -> str:
    return reverse(f"admin:forms_structure_form_{view}", args=[form.pk])


class FormPages(AdminPages):
    """Pages below a form."""

    def form_or_404(self, request: UserRequest, object_id: str) -> Form:
        """Return the form. Raises Http404 unless it is in the user's changelist."""
        forms = self.admin.get_queryset(request).defer(None).select_related("extends")
        form = forms.filter(pk__in=[as_id(object_id)]).first()
        if form is None:
            raise Http404("There is no such form.")
        if not self.admin.has_view_or_change_permission(request, form):
            raise PermissionDenied
        return form

    def frozen(self, form: Form) -> list[str]:
        """Return the names that cannot change while published vacancies use them."""
        return structure.names(form.structure) if self.admin.is_public(form) else []

    def demand(self, verb: str, request: UserRequest, *form: Form) -> None:
        """Raise PermissionDenied unless the user has the permission `verb`, on `form` if given."""
        if not getattr(self.admin, f"has_{verb}_permission")(request, *form):
            raise PermissionDenied
