"""The history of a form: its versions, what each changed, and how to restore one."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils.translation import gettext as _

from forms_structure import operations
from forms_structure.admin.base import FormPages, address
from forms_structure.outline import difference
from forms_structure.structure import StructureError
from jobsite.admin.base import as_id
from jobsite.types import Context, UserRequest

MAX_SNAPSHOTS = 20


class FormHistoryPages(FormPages):
    """The history page of a form."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls({"restore": self.restore_view})

    def history_view(
        self, request: UserRequest, object_id: str, extra_context: Context | None = None
    ) -> HttpResponse:
        form = self.form_or_404(request, object_id)
        snapshots = list(form.snapshots.select_related("author")[: MAX_SNAPSHOTS + 1])
        older = [*snapshots[1:], None]
        versions = [
            {
                "snapshot": new,
                "lines": difference(old.structure if old else [], new.structure),
                "origin": operations.translated_origin(new.origin),
                "language": new.get_language_display()
                if not old or old.language != new.language
                else "",
            }
            for new, old in zip(snapshots[:MAX_SNAPSHOTS], older, strict=False)
        ]
        context = {
            **self.context(request, _("History of %(form)s") % {"form": form}),
            "original": form,
            "versions": versions,
            "has_more": len(snapshots) > MAX_SNAPSHOTS,
            "can_change": self.admin.has_change_permission(request, form),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/forms_structure/form/history.html", context)

    def restore_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """POST `revision` to restore, `seen`:
        the newest revision on the page, `lost` as in `save_view`.
        """
        form = self.form_or_404(request, object_id)
        self.demand("change", request, form)
        wanted, seen = (as_id(request.POST.get(name)) or 0 for name in ("revision", "seen"))
        snapshot = form.snapshots.filter(revision=wanted).first()
        if request.method != "POST" or snapshot is None:
            raise Http404("There is no such version.")
        try:
            operations.restore(
                snapshot=snapshot,
                revision=seen,
                giving_up=request.POST.getlist("lost") if self.admin.is_public(form) else None,
                author=request.user,
            )
        except operations.LostNamesError as error:
            return self.history_view(request, object_id, {"confirm": snapshot, "lost": error.names})
        except operations.FormConflictError:
            text = _(
                "Nothing was restored, because someone else saved the form in the meantime. Check "
                "the versions again."
            )
            self.admin.message_user(request, text, messages.ERROR)
            return redirect(address("history", form))
        except StructureError as error:
            for text in error.messages:
                self.admin.message_user(request, text, messages.ERROR)
            return redirect(address("history", form))
        self.admin.log_change(request, form, f"Version {snapshot.revision} restored.")
        text = _("Version %(number)s was restored.") % {"number": snapshot.revision}
        self.admin.message_user(request, text, messages.SUCCESS)
        return redirect(address("change", form))
