"""The builder: one page to make an application form by hand and eye, and what it asks the server.

The page is forms_structure/static/forms_structure/builder.js; its data and its questions are JSON.
"""

import json
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, RequestDataTooBig, ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.forms import modelform_factory
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from forms_structure import operations, structure
from forms_structure.api.v1 import serve
from forms_structure.choices import LEVELS, FieldType, Language, Width
from forms_structure.exchange import digest, level_labels
from forms_structure.models import Form, Snapshot
from forms_structure.outline import difference, outline
from forms_structure.presets import presets
from forms_structure.schema import submission_schema
from forms_structure.structure import StructureError
from jobsite.admin.base import JobsiteAdmin, as_id, person
from jobsite.formats import format_datetime

SNAPSHOTS_SHOWN = 20


NameAndLanguage = modelform_factory(Form, fields=("name", "language"))


def question(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view that answers what a script POSTs about the form `object_id`: an object as JSON."""

    @wraps(view)
    @method_decorator(require_POST)
    def answer(self: "FormAdmin", request: HttpRequest, object_id: str) -> HttpResponse:
        form = self.form_or_404(request, object_id)
        try:
            asked = json.loads(request.body)
            json.dumps(asked, ensure_ascii=False).encode()  # half of a surrogate pair is no text
        except RequestDataTooBig:
            limit = structure.grouped(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
            text = _("The form has more than %(limit)s bytes.") % {"limit": limit}
            return JsonResponse({"faults": {"": text}}, status=413)
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            return JsonResponse({"faults": {"": _("Send an object as JSON.")}}, status=400)
        try:
            return view(self, request, form, asked)
        except StructureError as error:
            return JsonResponse({"faults": error.faults}, status=400)
        except IntegrityError:
            text = _("Someone else saved at the same time. Try again.")
            return JsonResponse({"faults": {"": text}}, status=409)
        except Form.DoesNotExist:
            return JsonResponse({"faults": {"": _("This form was deleted in the meantime.")}}, status=404)
        except ValidationError as error:
            faults = {name: " ".join(texts) for name, texts in error.message_dict.items()}
            return JsonResponse({"faults": faults}, status=400)

    return answer


class FormAdmin(JobsiteAdmin):
    """Forms and their builder. Who uses forms says for what, by the methods at the end."""

    fields = ("name", "language", "extends")
    list_display: tuple[str, ...] = ("name", "is_default", "language", "extends", "updated_at")
    list_select_related = ("extends",)
    search_fields = ("name",)
    actions = ("make_default", "copy_selected")

    # --- list ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[Form]:
        return super().get_queryset(request).defer("structure")

    @admin.action(description=gettext_lazy("Set as the site's form"), permissions=["make_default"])
    def make_default(self, request: HttpRequest, queryset: QuerySet[Form]) -> None:
        if len(chosen := list(queryset[:2])) != 1:
            self.message_user(request, _("Choose one form. A site has only one."), messages.WARNING)
            return
        [form] = chosen
        try:
            operations.make_default(form=form)
        except ValidationError as error:
            self.message_user(request, error.message, messages.WARNING)
            return
        self.log_change(request, form, "Made the site's form.")
        text = _("“%(form)s” is now the form of every vacancy that has no other form.")
        self.message_user(request, text % {"form": form}, messages.SUCCESS)

    def has_make_default_permission(self, request: HttpRequest) -> bool:
        """The site's form is changed for all who have no other one, whoever they are."""
        return self.has_change_permission(request)

    @admin.action(description=gettext_lazy("Copy"), permissions=["add"])
    def copy_selected(self, request: HttpRequest, queryset: QuerySet[Form]) -> None:
        for form in queryset.select_related("extends").defer(None):
            made = operations.copy(form=form, author=request.user)
            self.log_addition(request, made, f"Copied from “{form}”.")
            self.message_user(request, _("“%(form)s” was created.") % {"form": made}, messages.SUCCESS)

    # --- adding: a name and a language, then the builder ---

    def save_model(self, request: HttpRequest, obj: Form, form: Any, change: bool) -> None:
        made = operations.create(structure=[], author=request.user, **form.cleaned_data)
        obj.pk, obj.name = made.pk, made.name

    def response_add(self, request: HttpRequest, obj: Form, post_url_continue: str | None = None) -> Any:
        return redirect(self.address("change", obj))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "extends":
            kwargs["queryset"] = self.get_queryset(request).filter(extends=None)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    # --- the builder ---

    def get_urls(self) -> list[URLPattern]:
        views = {
            "save": self.save_view,
            "check": self.check_view,
            "copy": self.copy_view,
            "extend": self.extend_view,
            "sections": self.sections_view,
            "export": self.export_view,
            "restore": self.restore_view,
        }
        own = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(view),
                name=f"forms_structure_form_{name}",
            )
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def address(self, view: str, form: Form) -> str:
        return reverse(f"admin:forms_structure_form_{view}", args=[form.pk])

    def form_or_404(self, request: HttpRequest, object_id: str) -> Form:
        """One of those in the list: what else there is does not exist for this user."""
        forms = self.get_queryset(request).defer(None).select_related("extends")
        form = forms.filter(pk__in=[as_id(object_id)]).first()
        if form is None:
            raise Http404("There is no such form.")
        if not self.has_view_or_change_permission(request, form):
            raise PermissionDenied
        return form

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        form = self.form_or_404(request, object_id)
        get_token(request)  # sets the cookie that the script's POSTs need
        context = {
            **self.admin_site.each_context(request),
            "title": form.name,
            "subtitle": None,
            "opts": self.opts,
            "original": form,
            "data": self.builder_data(request, form),
            "outline": outline(form.whole_structure),
            "media": self.media,
        }
        return TemplateResponse(request, "admin/forms_structure/form/builder.html", context)

    def builder_data(self, request: HttpRequest, form: Form) -> dict[str, Any]:
        """Everything that the page starts from."""
        views = ("save", "check", "copy", "extend", "sections", "export", "history", "delete", "change")
        return {
            "form": state(form),
            "extends": form.extends and {**state(form.extends), "url": self.address("change", form.extends)},
            "can_change": self.has_change_permission(request, form),
            "can_add": self.has_add_permission(request),
            "urls": {view: self.address(view, form) for view in views},
            "use": self.use(request, form),
            "user": self.user(request, request.GET.get("for")),
            "frozen": self.frozen(form),
            "types": [
                {
                    "value": type_.value,
                    "label": type_.label,
                    "has_options": type_.has_options,
                    "fixed_values": type_.fixed_values,
                }
                for type_ in FieldType
            ],
            "widths": [{"value": width.value, "label": width.label} for width in Width],
            "depth_max": settings.FORM_DEPTH_MAX,
            "languages": {
                code: {
                    "label": str(label),
                    "levels": dict(zip(LEVELS, level_labels(code), strict=True)),
                    "consent_section": serve(Form(language=code))[0][-1],
                    "presets": presets(code),
                }
                for code, label in Language.choices
            },
            "other_forms": list(self.get_queryset(request).exclude(pk=form.pk).values("id", "name")),
        }

    @question
    def save_view(self, request: HttpRequest, form: Form, asked: dict[str, Any]) -> Any:
        """{"structure", "revision", "name", "language", "lost"} -> {"form"}, or why not: `faults` by path
        (400), `conflict` with what somebody else saved meanwhile (409), or `lost` (409), names that
        published vacancies show, that would vanish and that the question does not name as lost."""
        self.demand("change", request, form)
        meta = NameAndLanguage(asked, instance=copy(form))
        if not meta.is_valid():
            raise ValidationError(meta.errors.as_data())
        seen = asked.get("revision")
        try:
            changed = operations.save(
                form=form,
                structure=asked.get("structure"),
                revision=seen if isinstance(seen, int) else 0,
                keep_names=self.is_public(form),
                giving_up=texts(asked.get("lost")),
                author=request.user,
                **meta.cleaned_data,
            )
        except operations.ConflictError as error:
            return JsonResponse({"conflict": self.conflict(form, error.snapshot)}, status=409)
        except operations.LostNamesError as error:
            return JsonResponse({"lost": error.names, "use": self.use(request, form)}, status=409)
        if changed:
            self.log_change(request, form, f"Version {form.revision}.")
        answer = {"form": state(form), "use": self.use(request, form), "frozen": self.frozen(form)}
        return JsonResponse(answer)

    def conflict(self, form: Form, snapshot: Snapshot | None) -> dict[str, Any]:
        form.refresh_from_db()
        author = snapshot.author if snapshot else None
        return {
            "who": person(author) if author else _("Someone else"),
            "when": format_datetime(form.updated_at),
            "revision": form.revision,
        }

    @question
    def check_view(self, request: HttpRequest, form: Form, asked: dict[str, Any]) -> HttpResponse:
        """{"structure", "language"} -> {"schema", "version"} of the form as it would be served."""
        taken = structure.names(form.extends.structure) if form.extends else ()
        form.structure = structure.clean(asked.get("structure"), taken=taken)
        if asked.get("language") in Language.values:
            form.language = asked["language"]
        sections, _ = serve(form)
        schema = submission_schema(sections, address=self.address("check", form))
        return JsonResponse({"schema": schema, "version": digest(sections)})

    @question
    def copy_view(self, request: HttpRequest, form: Form, asked: dict[str, Any]) -> HttpResponse:
        """{"structure"?, "language"?, "for"?} -> {"url"}: a new form with this structure, for one alone."""
        edited = asked.get("structure", form.structure)
        return self.derive(request, form, asked, structure=edited, extends=form.extends)

    @question
    def extend_view(self, request: HttpRequest, form: Form, asked: dict[str, Any]) -> HttpResponse:
        """{"for"?} -> {"url"}: a new form that extends this one, for one user alone."""
        return self.derive(request, form, asked, structure=[], extends=form)

    def derive(self, request: HttpRequest, form: Form, asked: dict[str, Any], **values: Any) -> HttpResponse:
        self.demand("add", request)
        key, language = asked.get("for"), asked.get("language")
        user = self.user(request, key)
        if key is not None and user is None:
            raise ValidationError({"for": _("This vacancy does not exist, or you do not have access to it.")})
        name = _("%(form)s for %(vacancy)s") if user else _("Copy of %(form)s")
        with transaction.atomic():
            made = operations.create(
                name=name % {"form": form.name, "vacancy": user and user["label"]},
                author=request.user,
                origin=f"from {form.name}"[:200],
                language=language if language in Language.values else form.language,
                **values,
            )
            if user:
                self.give(request, made, user["id"])
        self.log_addition(request, made, f"Made from “{form}”.")
        asking = f"?for={user['id']}" if user else ""
        return JsonResponse({"url": self.address("change", made) + asking})

    def sections_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """-> {"sections"}, to copy one of them."""
        return JsonResponse({"sections": self.form_or_404(request, object_id).whole_structure})

    def export_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form as the interface serves it, as a file."""
        form = self.form_or_404(request, object_id)
        response = JsonResponse(
            {"data": serve(form)[0]}, json_dumps_params={"ensure_ascii": False, "indent": 2}
        )
        name = slugify(form.name) or f"form-{form.pk}"
        response["Content-Disposition"] = f'attachment; filename="{name}.json"'
        return response

    # --- history ---

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        form = self.form_or_404(request, object_id)
        snapshots = list(form.snapshots.select_related("author")[: SNAPSHOTS_SHOWN + 1])
        older = [*snapshots[1:], None]
        versions = [
            {
                "snapshot": new,
                "lines": difference(old.structure if old else [], new.structure),
                "origin": operations.translated_origin(new.origin),
                "language": new.get_language_display() if not old or old.language != new.language else "",
            }
            for new, old in zip(snapshots[:SNAPSHOTS_SHOWN], older, strict=False)
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": _("History of %(form)s") % {"form": form},
            "opts": self.opts,
            "original": form,
            "versions": versions,
            "has_more": len(snapshots) > SNAPSHOTS_SHOWN,
            "can_change": self.has_change_permission(request, form),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/forms_structure/form/history.html", context)

    def restore_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """`revision` of the version wanted, `seen` of the newest one on the page, `lost` as for a save."""
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
                keep_names=self.is_public(form),
                giving_up=request.POST.getlist("lost"),
                author=request.user,
            )
        except operations.LostNamesError as error:
            return self.history_view(request, object_id, {"confirm": snapshot, "lost": error.names})
        except operations.ConflictError:
            text = _(
                "Nothing was restored, because someone else saved the form in the meantime. Check the "
                "versions again."
            )
            self.message_user(request, text, messages.ERROR)
            return redirect(self.address("history", form))
        except StructureError as error:
            for text in error.messages:
                self.message_user(request, text, messages.ERROR)
            return redirect(self.address("history", form))
        self.log_change(request, form, f"Version {snapshot.revision} restored.")
        text = _("Version %(number)s was restored.") % {"number": snapshot.revision}
        self.message_user(request, text, messages.SUCCESS)
        return redirect(self.address("change", form))

    # --- deleting: only what nothing uses ---

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Django knows of foreign keys; who gets the site's form has none to it."""
        to_delete, counts, perms, protected = super().get_deleted_objects(objs, request)
        for form in objs:
            total = self.use(request, form)["total"]
            if form.is_default:
                protected.append(_("“%(form)s” is the site's form") % {"form": form})
            elif total:
                text = ngettext(
                    "“%(form)s” is used by %(count)s vacancy",
                    "“%(form)s” is used by %(count)s vacancies",
                    total,
                )
                protected.append(text % {"form": form, "count": total})
        return to_delete, counts, perms, protected

    # --- who uses a form: for the app whose rows do, to say ---

    def use(self, request: HttpRequest, form: Form) -> dict[str, Any]:
        """Return {"total", "published", "some": [{"label", "url"}]}: those whose applicants get `form`, by
        name as far as the user may see them."""
        return {"total": 0, "published": 0, "some": []}

    def is_public(self, form: Form) -> bool:
        """Whether published vacancies show `form`, so that its names may have answers."""
        return False

    def user(self, request: HttpRequest, key: Any) -> dict[str, Any] | None:
        """Return {"id", "label", "url"} of the one with the id `key`, that the builder was opened for."""
        return None

    def give(self, request: HttpRequest, form: Form, key: Any) -> None:
        """Let the one with the id `key`, if any, use `form`."""

    def frozen(self, form: Form) -> list[str]:
        """Names that stay while published vacancies show them."""
        return structure.names(form.structure) if self.is_public(form) else []

    def demand(self, verb: str, request: HttpRequest, *form: Form) -> None:
        """Raise PermissionDenied unless the user may do that, to this `form`; none is there to be added."""
        if not getattr(self, f"has_{verb}_permission")(request, *form):
            raise PermissionDenied


def texts(value: Any) -> list[str]:
    """The texts in `value`, which may be anything."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def state(form: Form) -> dict[str, Any]:
    return {
        "id": form.pk,
        "name": form.name,
        "language": form.language,
        "structure": form.structure,
        "revision": form.revision,
        "is_default": form.is_default,
    }
