"""The page "Emails and consent" of a brand: sender, rejections, signatures and consent texts."""

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminURLInputWidget,
    UnfoldBooleanWidget,
)

from applications.mail.brand_mail import from_line, may_send_as, sender_domains
from applications.mail.templates import placeholders_in, templates_for
from applications.models import BrandMail
from forms_structure.models import ConsentText
from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.db.transactions import retry_on_conflict
from jobsite.languages import LANGUAGES, site_language
from jobsite.types import Context, JsonObject, UserRequest
from vacancies.models import Brand

SENDER = ("sender_name", "sender_address", "reply_to", "has_names_in_invitations")
REJECTION = ("rejection", "has_rejection_email", "asks_reason")
Purpose = ConsentText.Purpose


class BrandMailForm(forms.ModelForm):
    class Meta:
        model = BrandMail
        fields = (*SENDER, *REJECTION, *(f"signature_{code}" for code in LANGUAGES))
        widgets = {
            "sender_name": UnfoldAdminTextInputWidget,
            "sender_address": UnfoldAdminEmailInputWidget,
            "reply_to": UnfoldAdminEmailInputWidget,
            "has_names_in_invitations": UnfoldBooleanWidget,
            "rejection": UnfoldAdminSelectWidget,
            "has_rejection_email": UnfoldBooleanWidget,
            "asks_reason": UnfoldAdminSelectWidget,
            **{
                f"signature_{code}": UnfoldAdminTextareaWidget(attrs={"rows": 3})
                for code in LANGUAGES
            },
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        text = gettext("Of one of these domains: %(domains)s. If empty: the address of the site.")
        self.fields["sender_address"].help_text = text % {"domains": ", ".join(sender_domains())}
        rejection: Any = self.fields["rejection"]
        rejection.queryset = templates_for([self.instance.brand_id])

    def clean_sender_name(self) -> str:
        name: str = self.cleaned_data["sender_name"]
        if not name.isprintable():
            raise ValidationError(gettext("Enter one line, without control characters."))
        return name

    def clean_sender_address(self) -> str:
        address: str = self.cleaned_data["sender_address"]
        if address and not may_send_as(address):
            text = gettext(
                "Emails from this address would be refused. Enter an address of %(domains)s, or "
                "ask the administrator of the site to add its domain to SENDER_DOMAINS."
            )
            raise ValidationError(text % {"domains": ", ".join(sender_domains())})
        return address

    def clean(self) -> JsonObject:
        data = super().clean() or self.cleaned_data
        for code in LANGUAGES:
            if names := placeholders_in(data.get(f"signature_{code}", "")):
                text = gettext("A signature has no placeholders: %(names)s would be sent as it is.")
                self.add_error(f"signature_{code}", text % {"names": ", ".join(names)})
        return data


class ConsentForm(forms.ModelForm):
    """The consent text of a brand in a language. Its instance is not saved:
    another version is added.
    """

    version = forms.CharField(required=False, widget=forms.HiddenInput)  # that the page showed

    class Meta:
        model = ConsentText
        fields: tuple[str, ...] = ("text", "statement_url", "statement_label")
        labels: ClassVar = {"text": _("consent text")}
        widgets = {
            "text": UnfoldAdminTextareaWidget(attrs={"rows": 3}),
            "statement_url": UnfoldAdminURLInputWidget,
            "statement_label": UnfoldAdminTextInputWidget,
        }

    def __init__(self, data: QueryDict | None, *, prefix: str, instance: ConsentText) -> None:
        self.shown = instance.version
        super().__init__(data, prefix=prefix, instance=instance, initial={"version": self.shown})
        self.fields["text"].required = False
        if not self.shown:
            key = (instance.language, instance.brand_number, instance.purpose)
            current = ConsentText.objects.current(*key)
            self.fields["text"].help_text = gettext("If empty: “%(text)s”") % {"text": current.text}

    @property
    def is_changed(self) -> bool:
        return bool({*self.changed_data} - {"version"})

    def clean(self) -> JsonObject:
        data = super().clean() or self.cleaned_data
        if not data.get("text") and (data.get("statement_url") or data.get("statement_label")):
            self.add_error("text", gettext("Enter the text too, or leave all three fields empty."))
        if self.is_changed and data.get("version") != str(self.shown):
            text = gettext("A colleague changed this text in the meantime. Load the page again.")
            self.add_error("text", text)
        return data


class PoolTextForm(ConsentForm):
    """The text that an applicant agrees to who joins the talent pool."""

    class Meta(ConsentForm.Meta):
        fields = ("text",)
        labels: ClassVar = {"text": _("text of the talent pool")}


FORMS = {Purpose.APPLICATION: ConsentForm, Purpose.POOL: PoolTextForm}


class BrandEmailPages(AdminPages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"emails": self.emails_view})

    def emails_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Show, or save, the sender, rejections, signatures and consent texts of a brand."""
        brand = get_object_or_404(self.admin.get_queryset(request), pk=as_id(object_id))
        may_change = self.admin.has_change_permission(request, brand)
        if not (
            may_change
            if request.method == "POST"
            else self.admin.has_view_permission(request, brand)
        ):
            raise PermissionDenied
        page = retry_on_conflict(lambda: _Page(self.admin, request, brand))
        if page.is_saved:
            self.admin.message_user(request, gettext("Saved."), messages.SUCCESS)
            return redirect(request.path)
        context = {
            **self.context(request, brand.name),
            "media": self.admin.media,
            "original": brand,
            "may_change": may_change,
            "is_wrong": page.is_wrong,
            **page.context(),
        }
        template = "admin/vacancies/brand/emails.html"
        return TemplateResponse(request, template, context, status=422 if page.is_wrong else 200)


class _Page:
    """The forms of one request. Created in a transaction:
    it saves what was posted, if all is valid.
    """

    def __init__(self, admin: Any, request: UserRequest, brand: Brand) -> None:
        self.brand = brand
        data = request.POST if request.method == "POST" else None
        if data is not None:  # two saves wait for each other
            Brand.objects.select_for_update().filter(pk=brand.pk).first()
        mail = BrandMail.objects.filter(brand=brand).first() or BrandMail(brand=brand)
        self.sent_from = from_line(mail)
        self.mail = BrandMailForm(data, instance=mail)
        self.consents = {
            purpose: {
                code: FORMS[purpose](data, prefix=_prefix(purpose, code), instance=text)
                for code, text in self._newest(purpose).items()
            }
            for purpose in FORMS
        }
        self.is_saved = data is not None and self._is_valid()
        self.is_wrong = data is not None and not self.is_saved
        if self.is_saved:
            self._save(admin, request)

    def context(self) -> Context:
        return {
            "sender": [self.mail[name] for name in SENDER],
            "rejection": [self.mail[name] for name in REJECTION],
            "sent_from": self.sent_from or settings.DEFAULT_FROM_EMAIL,
            "languages": [self._language(code) for code in self._codes()],
        }

    def _language(self, code: str) -> Context:
        forms = [of_purpose[code] for of_purpose in self.consents.values()]
        texts = [form[name] for form in forms for name in form.fields if name != "version"]
        fields = [self.mail[f"signature_{code}"], *texts]
        is_used = any(field.value() or field.errors for field in fields)
        return {
            "code": code,
            "name": gettext(LANGUAGES[code]),
            "fields": fields,
            "versions": [form["version"] for form in forms],
            "is_open": is_used or code == site_language(),
        }

    def _codes(self) -> list[str]:
        return list(dict.fromkeys((site_language(), *LANGUAGES)))

    def _newest(self, purpose: str) -> dict[str, ConsentText]:
        """Return the text of each language, one without a version if there is none."""
        own = ConsentText.objects.filter(brand_number=self.brand.pk).newest(purpose)
        new = {"brand_number": self.brand.pk, "purpose": purpose, "version": 0}
        return {
            code: own.get((self.brand.pk, code)) or ConsentText(language=code, **new)
            for code in self._codes()
        }

    def _is_valid(self) -> bool:
        forms = [form for each in self.consents.values() for form in each.values()]
        if not all(form.is_valid() for form in (self.mail, *forms)):
            return False
        return all(map(_has_text_of_site, self.consents.values()))

    def _save(self, admin: Any, request: UserRequest) -> None:
        done = admin.construct_change_message(request, self.mail, [])
        if self.mail.has_changed():
            self.mail.save()
        for form in (form for each in self.consents.values() for form in each.values()):
            if form.is_changed:
                texts = {name: form.cleaned_data[name] for name in form.Meta.fields}
                kept = ("brand_number", "language", "purpose")
                of = {name: getattr(form.instance, name) for name in kept}
                added = ConsentText.objects.add(**of, **texts)
                with translation.override(None):  # translated where it is shown
                    name = str(ConsentText._meta.verbose_name)
                    done.append({"added": {"name": name, "object": str(added)}})
        if done:
            admin.log_change(request, self.brand, done)


def _prefix(purpose: str, code: str) -> str:
    return code if purpose == Purpose.APPLICATION else f"{purpose}-{code}"


def _has_text_of_site(forms: dict[str, ConsentForm]) -> bool:
    """Return whether one of `forms`, by language, has a text only if that of the site's language
    has one. Add the error.
    """
    of_site = forms[site_language()]
    texts = [form.cleaned_data["text"] for form in forms.values()]
    if not any(texts) or of_site.cleaned_data["text"]:
        return True
    text = gettext("Enter it in %(language)s too: a language without a text uses it.")
    of_site.add_error("text", text % {"language": gettext(LANGUAGES[site_language()])})
    return False
