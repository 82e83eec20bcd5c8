"""The page of a task of an application: adding one, changing and deleting it."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from applications.admin.parts import CHANGE, ApplicationPages
from applications.models import Access, Task
from applications.operations.access_log import log_access
from jobsite.admin.base import as_id
from jobsite.admin.datetime_fields import ZonedDateTimeField, ZonedDateTimeWidget
from jobsite.types import UserRequest


class TaskForm(forms.ModelForm):
    planned_at = ZonedDateTimeField(label=_("scheduled for"), widget=ZonedDateTimeWidget)

    class Meta:
        model = Task
        fields = ("name", "planned_at", "result", "is_visible")
        widgets = {
            "name": UnfoldAdminTextInputWidget,
            "result": UnfoldAdminTextInputWidget,
            "is_visible": UnfoldBooleanWidget,
        }


class TaskPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"task": self.task_view})

    def task_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Add a task, or change or delete the one of the parameter `entry`."""
        application = self.application_or_404(request, object_id, CHANGE)
        task = Task(application=application)
        if "entry" in request.GET:
            rows = Task.objects.filter(application=application)
            task = get_object_or_404(rows, pk=as_id(request.GET["entry"]))
        form = TaskForm(request.POST if request.method == "POST" else None, instance=task)
        if task.pk and "delete" in request.POST:
            task.delete()
            return self._saved(request, task, gettext("The task was deleted."))
        if form.is_valid():
            form.instance.updated_at = timezone.now()
            form.save()
            return self._saved(request, task, gettext("The task was saved."))
        log_access(request.user, Access.VIEW, application.pk)
        title = gettext("Task of %(name)s") % {"name": application.display_name}
        context = {
            "media": self.admin.media + form.media,
            "application": application,
            "form": form,
            "back": self.page_of(request, application, "interviews"),
        }
        return render(
            request,
            "admin/applications/application/interviews/task.html",
            self.context(request, title, **context),
            status=422 if form.errors else 200,
        )

    def _saved(self, request: UserRequest, task: Task, text: str) -> HttpResponse:
        log_access(request.user, Access.CHANGE, task.application_id)
        self.message(request, text, messages.SUCCESS)
        return self.back(request, task.application, "interviews")
