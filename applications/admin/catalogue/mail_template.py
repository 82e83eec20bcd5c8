"""The admin of email templates, with the placeholders and a preview."""

from django import forms
from django.contrib import admin
from django.db.models import ForeignKey, Q, QuerySet
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.mail.templates import described_placeholders, email_from, unknown_placeholders
from applications.models import Application, BrandMail, MailTemplate
from jobsite.admin.base import JobsiteAdmin
from jobsite.languages import LANGUAGES
from jobsite.types import StrOrPromise, UserRequest
from vacancies.access.brands import brands_of
from vacancies.admin.brand_access import brand_choices
from vacancies.models import Brand, Recruiter, Vacancy
from vacancies.querysets import EVERY_BRAND


class MailTemplateForm(forms.ModelForm):
    """A template with a subject and a text in at least one language."""

    class Meta:
        model = MailTemplate
        fields = (
            "name",
            "brand",
            *(f"{part}_{code}" for code in LANGUAGES for part in ("subject", "body")),
        )

    def clean(self) -> dict[str, object]:
        data = super().clean() or self.cleaned_data
        is_empty = True
        for code in LANGUAGES:
            parts = {
                f"{part}_{code}": data.get(f"{part}_{code}", "") for part in ("subject", "body")
            }
            for name, text in parts.items():
                if unknown := unknown_placeholders(text):
                    text = gettext("There is no placeholder %(names)s. Choose from the list above.")
                    self.add_error(name, text % {"names": ", ".join(unknown)})
            missing = [name for name, text in parts.items() if not text.strip()]
            is_empty &= bool(missing)
            if len(missing) == 1 and missing[0] not in self.errors:
                self.add_error(
                    missing[0], gettext("Enter both the subject and the text, or neither.")
                )
        if is_empty and not self.errors:
            raise forms.ValidationError(
                gettext("Enter the subject and the text in at least one language.")
            )
        return data


Fieldsets = list[tuple[StrOrPromise | None, dict[str, object]]]


@admin.register(MailTemplate)
class MailTemplateAdmin(JobsiteAdmin):
    form = MailTemplateForm
    list_display = ("name", "brand_name", "languages")
    list_select_related = ("brand",)
    search_fields = ("name",)
    readonly_fields = ("placeholders", "preview")

    def get_fieldsets(self, request: UserRequest, obj: MailTemplate | None = None) -> Fieldsets:
        texts: Fieldsets = [
            (gettext(name), {"fields": (f"subject_{code}", f"body_{code}")})
            for code, name in LANGUAGES.items()
        ]
        preview: Fieldsets = [(_("Preview"), {"fields": ("preview",)})] if obj else []
        return [(None, {"fields": ("name", "brand", "placeholders")}), *texts, *preview]

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """The templates of the site and of the user's brands."""
        rows = super().get_queryset(request)
        own = Q(brand=None) | Q(brand__in=brands_of(request.user).values("pk"))
        return rows if request.user.has_perm(EVERY_BRAND) else rows.filter(own)

    def has_change_permission(self, request: UserRequest, obj: MailTemplate | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_change(request, obj)

    def has_delete_permission(self, request: UserRequest, obj: MailTemplate | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_change(request, obj)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: object
    ) -> forms.ModelChoiceField | None:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        brand_choices(field, request.user)
        return field

    @display(description=_("Brand"), ordering="brand__name")
    def brand_name(self, template: MailTemplate) -> str:
        return template.brand.name if template.brand else gettext("All brands")

    @display(description=_("Languages"))
    def languages(self, template: MailTemplate) -> str:
        return ", ".join(
            gettext(name) for code, name in LANGUAGES.items() if getattr(template, f"body_{code}")
        )

    @display(description=_("Placeholders"))
    def placeholders(self, template: MailTemplate) -> str:
        rows = described_placeholders()
        return format_html(
            '<ul class="placeholders">{}</ul>',
            format_html_join("", "<li><code>{}</code> {}</li>", rows),
        )

    @display(description=_("As saved, for an example"))
    def preview(self, template: MailTemplate) -> str:
        """Return the email in each language that the template has, for an applicant who does not
        exist.
        """
        mails = []
        for code, name in LANGUAGES.items():
            if getattr(template, f"subject_{code}") and getattr(template, f"body_{code}"):
                email = email_from(template, _example(), language=code)
                mails.append((gettext(name), code, email.subject, email.body))
        return format_html_join(
            "",
            '<section class="mail" lang="{1}"><h3>{0}: {2}</h3><pre>{3}</pre></section>',
            ((name, code, subject, body) for name, code, subject, body in mails),
        )


def _may_change(request: UserRequest, template: MailTemplate | None) -> bool:
    """Whether the user may change `template`: one of the site is for users of every brand."""
    if template is None or request.user.has_perm(EVERY_BRAND):
        return True
    return brands_of(request.user).filter(pk=template.brand_id or 0).exists()


def _example() -> Application:
    brand = Brand(name="Example")
    brand.mail = BrandMail(
        **{f"signature_{code}": "Example\nwww.example.com" for code in LANGUAGES}
    )
    vacancy = Vacancy(
        title=gettext("Baker"), head_recruiter=Recruiter(name="An Peeters"), brand=brand
    )
    return Application(
        vacancy=vacancy,
        given_name="Mia",
        family_name="Maes",
        email="mia@example.org",
        reference="7K3QX9WD",
        created_at=timezone.now(),
    )
