"""Who looks after applications, and their tags:
for one on its page, for many by actions of the list.
"""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q
from django.http import HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from applications.admin.parts import CHANGE, ApplicationPages
from applications.admin.selection import ApplicationSelection
from applications.models import Access, Application, ApplicationTag, Tag
from applications.operations.access_log import log_access
from applications.operations.assigning import add_tag, assign, readers_of_all, remove_tag
from applications.querysets import ApplicationQuerySet
from jobsite.admin.confirmation import ActionRow, ActionSection, ask, is_confirmed
from jobsite.text.names import person
from jobsite.types import UserRequest
from vacancies.querysets import EVERY_BRAND

TAGS_MAX = 200  # that are offered


def tags_of(user: User) -> list[tuple[str, str]]:
    """Return (folded, name) of the tags of the user's brands, each name once."""
    return list(
        dict(Tag.objects.filter(_own(user)).values_list("folded", "name")[:TAGS_MAX]).items()
    )


def _own(user: User) -> Q:
    return Q() if user.has_perm(EVERY_BRAND) else Q(brand__in=user.brands.values("pk"))


class OwnerForm(forms.Form):
    owner = forms.ChoiceField(
        label=_("Assigned to"),
        required=False,
        widget=UnfoldAdminSelectWidget(attrs={"id": "id_owner"}),
    )

    def __init__(self, *args: Any, readers: list[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.readers = {str(user.pk): user for user in readers}
        field: Any = self.fields["owner"]
        field.choices = [
            ("", gettext("Nobody")),
            *((pk, person(user)) for pk, user in self.readers.items()),
        ]
        field.error_messages["invalid_choice"] = gettext(
            "This colleague may not see all of the applications."
        )

    def chosen(self) -> User | None:
        return self.readers.get(self.cleaned_data["owner"])


class TagForm(forms.Form):
    name = forms.CharField(
        label=_("Tag"),
        max_length=Tag.NAME_MAX,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "tags", "autocomplete": "off"}),
        help_text=_("At most 40 characters. Applicants do not see it, but get it on request."),
    )
    step = forms.ChoiceField(
        label=_("What to do"),
        choices=[("add", _("Add it")), ("remove", _("Remove it"))],
        widget=UnfoldAdminSelectWidget,
    )


class AssigningPages(ApplicationPages):
    """Assigning and tagging, on the page of an application and by actions of the list."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls({"owner": self.owner_view, "tag": self.tag_view})

    def owner_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Assign the application to the posted colleague, or to nobody."""
        application = self.posted_to(request, object_id, CHANGE)
        form = OwnerForm(request.POST, readers=readers_of_all([application.pk]))
        if form.is_valid():
            self._assign(request, [application.pk], form.chosen())
        else:
            self._show_errors(request, form)
        return self.back(request, application, "assigned")

    def tag_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Add the posted tag, or remove it."""
        application = self.posted_to(request, object_id, CHANGE)
        form = TagForm(request.POST)
        if form.is_valid():
            self._tag(request, [application.pk], form)
        else:
            self._show_errors(request, form)
        return self.back(request, application, "assigned")

    def assign_action(
        self, request: UserRequest, queryset: ApplicationQuerySet
    ) -> HttpResponse | None:
        """Ask to whom, then assign the applications."""
        pks = list(queryset.order_by().values_list("pk", flat=True))
        data = request.POST if is_confirmed(request) else None
        form = OwnerForm(data, readers=readers_of_all(pks))
        if form.is_bound and form.is_valid():
            self._assign(request, pks, form.chosen())
            return None
        text = gettext("Colleagues who may see all of these applications are offered.")
        return self._ask(request, queryset, form, gettext("Assign"), "assignment_ind", text)

    def tag_action(
        self, request: UserRequest, queryset: ApplicationQuerySet
    ) -> HttpResponse | None:
        """Ask for the tag, then add or remove it."""
        form = TagForm(request.POST if is_confirmed(request) else None)
        if form.is_bound and form.is_valid():
            self._tag(request, list(queryset.order_by().values_list("pk", flat=True)), form)
            return None
        text = gettext("Tags are for the recruiters of a brand.")
        return self._ask(request, queryset, form, gettext("Tag"), "sell", text)

    def _assign(self, request: UserRequest, pks: list[int], owner: User | None) -> None:
        count = assign(applications=pks, owner=owner)
        log_access(request.user, Access.CHANGE, *pks)
        text = (
            ngettext("%(count)d assigned to %(name)s.", "%(count)d assigned to %(name)s.", count)
            if owner
            else ngettext("%(count)d assigned to nobody.", "%(count)d assigned to nobody.", count)
        )
        self.message(
            request,
            text % {"count": count, "name": person(owner) if owner else ""},
            messages.SUCCESS,
        )

    def _tag(self, request: UserRequest, pks: list[int], form: TagForm) -> None:
        name, is_added = form.cleaned_data["name"], form.cleaned_data["step"] == "add"
        count = (add_tag if is_added else remove_tag)(applications=pks, name=name)
        log_access(request.user, Access.CHANGE, *pks)
        text = (
            ngettext(
                "“%(name)s” was added to %(count)d application.",
                "“%(name)s” was added to %(count)d applications.",
                count,
            )
            if is_added
            else ngettext(
                "“%(name)s” was removed from %(count)d application.",
                "“%(name)s” was removed from %(count)d applications.",
                count,
            )
        )
        self.message(request, text % {"count": count, "name": name}, messages.SUCCESS)

    def _show_errors(self, request: UserRequest, form: forms.Form) -> None:
        for name, errors in form.errors.items():
            for error in errors:
                self.message(request, f"{form.fields[name].label}: {error}", messages.ERROR)

    def _ask(
        self,
        request: UserRequest,
        rows: ApplicationQuerySet,
        form: forms.Form,
        label: str,
        icon: str,
        text: str,
    ) -> HttpResponse:
        people = ApplicationSelection.of(rows).people()
        listed = [ActionRow(f"{each.display_name} – {each.vacancy.title}") for each in people]
        response = ask(
            self.admin,
            request,
            label=label,
            icon=icon,
            text=text,
            form=form,
            sections=[ActionSection(gettext("Applications"), listed)],
            own_tags=[name for _folded, name in tags_of(request.user)],
        )
        response.status_code = 422 if form.errors else 200
        return response


def assigned_context(
    request: UserRequest, application: Application, readers: list[User]
) -> dict[str, object]:
    """Return the owner and the tags of an application, for its page, and forms to change them.
    `readers` may view the application.
    """
    has = Exists(ApplicationTag.objects.filter(application=application, tag=OuterRef("pk")))
    rows = (
        Tag.objects.annotate(has=has)
        .filter(_own(request.user) | Q(has=True))
        .order_by("-has", "folded")
    )
    tags = list(rows.values_list("name", "has")[:TAGS_MAX])
    context: dict[str, object] = {"tags": [name for name, has in tags if has]}
    if request.user.has_perm(CHANGE):
        form = OwnerForm(readers=readers, initial={"owner": application.owner_id})
        if application.owner and str(application.owner_id) not in form.readers:
            context["lost_owner"] = person(application.owner)
        context |= {"owner_form": form, "own_tags": dict.fromkeys(name for name, _has in tags)}
    elif application.owner:
        context["owner"] = person(application.owner)
    return context
