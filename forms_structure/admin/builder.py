"""The form builder: a page to edit an application form, and the endpoints that its script requests.

The script is forms_structure/static/forms_structure/builder.js.
"""

import json
from collections.abc import Callable
from copy import copy
from functools import wraps

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, ValidationError
from django.db import IntegrityError, transaction
from django.forms import modelform_factory
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils.decorators import method_decorator
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from forms_structure import operations, structure
from forms_structure.admin.base import FormPages, address
from forms_structure.api.v1 import serve
from forms_structure.choices import LEVELS, FieldRole, FieldType, Language, Width
from forms_structure.exchange import digest, level_labels
from forms_structure.models import Form, Snapshot
from forms_structure.outline import outline
from forms_structure.pay_history import pay_history_labels
from forms_structure.presets import presets
from forms_structure.roles import accepts_applications, add_roles
from forms_structure.schema import submission_schema
from forms_structure.structure import StructureError
from jobsite.languages import text_languages
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest

CANNOT_ACCEPT = gettext_lazy(
    "Nobody can apply with this form yet: it needs a required field for the e-mail address of "
    "the applicant."
)
PAY_HISTORY = gettext_lazy(
    "These fields seem to ask what the applicant earns or earned: %(labels)s. Employers in the "
    "European Union may not ask this (Directive (EU) 2023/970, Article 5). Ask for the expected "
    "pay instead."
)
NameAndLanguage = modelform_factory(Form, fields=("name", "language"))


def json_endpoint(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Make `view` an endpoint of the builder:
    it receives the form `object_id` and the posted JSON object.
    """

    @wraps(view)
    @method_decorator(require_POST)
    def answer(self: "BuilderPages", request: UserRequest, object_id: str) -> HttpResponse:
        form = self.form_or_404(request, object_id)
        try:
            posted = json.loads(request.body)
            json.dumps(posted, ensure_ascii=False).encode()  # rejects half of a surrogate pair
        except RequestDataTooBig:
            limit = structure.grouped(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
            text = _("The form has more than %(limit)s bytes.") % {"limit": limit}
            return JsonResponse({"faults": {"": text}}, status=413)
        except (ValueError, RecursionError):
            posted = None
        if not isinstance(posted, dict):
            return JsonResponse({"faults": {"": _("Send an object as JSON.")}}, status=400)
        try:
            return view(self, request, form, posted)
        except StructureError as error:
            return JsonResponse({"faults": error.faults}, status=400)
        except IntegrityError:
            text = _("Someone else saved at the same time. Try again.")
            return JsonResponse({"faults": {"": text}}, status=409)
        except Form.DoesNotExist:
            return JsonResponse(
                {"faults": {"": _("This form was deleted in the meantime.")}}, status=404
            )
        except ValidationError as error:
            faults = {name: " ".join(texts) for name, texts in error.message_dict.items()}
            return JsonResponse({"faults": faults}, status=400)

    return answer


class BuilderPages(FormPages):
    """The page of the builder and its endpoints."""

    def urls(self) -> list[URLPattern]:
        views = {
            "save": self.save_view,
            "check": self.check_view,
            "copy": self.copy_view,
            "extend": self.extend_view,
            "sections": self.sections_view,
            "export": self.export_view,
        }
        return self.object_urls(views)

    def builder_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        form = self.form_or_404(request, object_id)
        get_token(request)  # sets the cookie for the POSTs of the script
        context = {
            **self.context(request, form.name),
            "subtitle": None,
            "original": form,
            "data": self.builder_data(request, form),
            "outline": outline(form.whole_structure),
            "media": self.admin.media,
        }
        return TemplateResponse(request, "admin/forms_structure/form/builder.html", context)

    def builder_data(self, request: UserRequest, form: Form) -> dict[str, object]:
        """Return the data that the page starts with."""
        views = (
            "save",
            "check",
            "copy",
            "extend",
            "sections",
            "export",
            "history",
            "delete",
            "change",
        )
        return {
            "form": state(form),
            "extends": form.extends
            and {**state(form.extends), "url": address("change", form.extends)},
            "can_change": self.admin.has_change_permission(request, form),
            "can_add": self.admin.has_add_permission(request),
            "urls": {view: address(view, form) for view in views},
            "use": self.admin.use(request, form),
            **translations(form),
            "user": self.admin.user(request, request.GET.get("for")),
            "frozen": self.frozen(form),
            "types": [
                {
                    "value": type_.value,
                    "label": type_.label,
                    "has_options": type_.has_options,
                    "fixed_values": type_.fixed_values,
                    "roles": [role.value for role in FieldRole if type_ in role.types],
                }
                for type_ in FieldType
            ],
            "roles": [
                {
                    "value": role.value,
                    "label": role.label,
                    "may_be_conditional": role.may_be_conditional,
                    "may_be_required": role.may_be_required,
                }
                for role in FieldRole
            ],
            "widths": [{"value": width.value, "label": width.label} for width in Width],
            "depth_max": settings.FORM_DEPTH_MAX,
            "languages": {
                code: {
                    "label": str(label),
                    "levels": dict(zip(LEVELS, level_labels(code), strict=True)),
                    "consent_section": serve(Form(language=code), None)[0][-1],
                    "presets": presets(code),
                }
                for code, label in Language.choices
            },
            "other_forms": list(
                self.admin.get_queryset(request).exclude(pk=form.pk).values("id", "name")
            ),
        }

    @json_endpoint
    def save_view(
        self, request: UserRequest, form: Form, posted: dict[str, object]
    ) -> HttpResponse:
        """{"structure", "revision", "name", "language", "lost"} -> {"form", "use", "frozen"}.

        Errors: `faults` by path (400); `conflict` if someone else saved in the meantime (409);
        `lost` (409) with the field names that published vacancies would lose and that the request
        does not list as lost.
        """
        self.demand("change", request, form)
        meta = NameAndLanguage(posted, instance=copy(form))
        if not meta.is_valid():
            raise ValidationError(meta.errors.as_data())
        seen = posted.get("revision")
        edit = operations.FormEdit(
            posted.get("structure"),
            name=meta.cleaned_data["name"],
            language=meta.cleaned_data["language"],
            revision=seen if isinstance(seen, int) else 0,
            giving_up=texts(posted.get("lost")) if self.admin.is_public(form) else None,
        )
        try:
            changed = operations.save(form, edit, author=request.user)
        except operations.FormConflictError as error:
            return JsonResponse({"conflict": self.conflict(form, error.snapshot)}, status=409)
        except operations.LostNamesError as error:
            return JsonResponse(
                {"lost": error.names, "use": self.admin.use(request, form)}, status=409
            )
        if changed:
            self.admin.log_change(request, form, f"Version {form.revision}.")
        answer = {
            "form": state(form),
            "use": self.admin.use(request, form),
            **translations(form),
            "frozen": self.frozen(form),
        }
        return JsonResponse(answer)

    def conflict(self, form: Form, snapshot: Snapshot | None) -> dict[str, object]:
        form.refresh_from_db()
        author = snapshot.author if snapshot else None
        return {
            "who": person(author) if author else _("Someone else"),
            "when": format_datetime(form.updated_at),
            "revision": form.revision,
        }

    @json_endpoint
    def check_view(
        self, request: UserRequest, form: Form, posted: dict[str, object]
    ) -> HttpResponse:
        """{"structure", "language"} -> {"schema", "version"} of the form as the API would return
        it, and {"warning"}: why it cannot accept applications and what it may not ask, or "".
        """
        base = form.extends.structure if form.extends else ()
        form.structure = structure.clean(posted.get("structure"), base=base)
        if posted.get("language") in Language.values:
            form.language = str(posted["language"])
        sections, _ = serve(form, None)
        schema = submission_schema(sections, address=address("check", form))
        warnings = [] if accepts_applications(form.whole_structure) else [str(CANNOT_ACCEPT)]
        if labels := pay_history_labels(form.structure):
            warnings.append(
                PAY_HISTORY % {"labels": ", ".join(f"“{label[:80]}”" for label in labels[:5])}
            )
        return JsonResponse(
            {"schema": schema, "version": digest(sections), "warning": " ".join(warnings)}
        )

    @json_endpoint
    def copy_view(
        self, request: UserRequest, form: Form, posted: dict[str, object]
    ) -> HttpResponse:
        """{"structure"?, "language"?, "for"?} -> {"url"} of a new form with this structure."""
        edited = posted.get("structure", form.structure)
        return self.derive(request, form, posted, structure=edited, extends=form.extends)

    @json_endpoint
    def extend_view(
        self, request: UserRequest, form: Form, posted: dict[str, object]
    ) -> HttpResponse:
        """{"for"?} -> {"url"} of a new form that extends this one."""
        return self.derive(request, form, posted, structure=[], extends=form)

    def derive(
        self,
        request: UserRequest,
        form: Form,
        posted: dict[str, object],
        structure: object,
        extends: Form | None,
    ) -> HttpResponse:
        self.demand("add", request)
        key, language = posted.get("for"), posted.get("language")
        user = self.admin.user(request, key)
        if key is not None and user is None:
            raise ValidationError(
                {"for": _("This vacancy does not exist, or you do not have access to it.")}
            )
        name = _("%(form)s for %(vacancy)s") if user else _("Copy of %(form)s")
        with transaction.atomic():
            made = operations.create(
                name=name % {"form": form.name, "vacancy": user and user["label"]},
                author=request.user,
                origin=f"from {form.name}"[:200],
                language=language if language in Language.values else form.language,
                structure=structure,
                extends=extends,
            )
            if extends == form.extends:
                operations.copy_translations(form, made, author=request.user)
            if user:
                self.admin.give(request, made, user["id"])
        self.admin.log_addition(request, made, f"Made from “{form}”.")
        query = f"?for={user['id']}" if user else ""
        return JsonResponse({"url": address("change", made) + query})

    def sections_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Return {"sections"}, to copy one of them into another form."""
        return JsonResponse({"sections": self.form_or_404(request, object_id).whole_structure})

    def export_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Return the form as a file, as the API returns it, with the roles."""
        form = self.form_or_404(request, object_id)
        sections, _language = serve(form, None)
        add_roles(sections, form.whole_structure)
        response = JsonResponse(
            {"data": sections}, json_dumps_params={"ensure_ascii": False, "indent": 2}
        )
        name = slugify(form.name) or f"form-{form.pk}"
        response["Content-Disposition"] = f'attachment; filename="{name}.json"'
        return response


def translations(form: Form) -> dict[str, object]:
    """Return {"translations": {"url", "label"}} of the page of the translations of `form`, if forms
    have some.
    """
    if not text_languages():
        return {}
    found = form.translations.order_by("language")
    names = [
        _("%(language)s (%(count)s to translate)") % {"language": name, "count": len(each.marks)}
        if each.marks
        else str(name)
        for each in found
        for name in [Language(each.language).label]
    ]
    label = ", ".join(names) or _("Add a language…")
    return {"translations": {"url": address("translate", form), "label": label}}


def texts(value: object) -> list[str]:
    """Return the strings in `value`, which may be anything."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def state(form: Form) -> dict[str, object]:
    return {
        "id": form.pk,
        "name": form.name,
        "language": form.language,
        "structure": form.structure,
        "revision": form.revision,
        "is_default": form.is_default,
    }
