"""Consents of applicants whom a colleague added."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from applications.mail.consent import queue_question, queue_refusal
from applications.models import Application, ConsentRequest
from forms_structure.models import ConsentText

ANSWERED_WITHIN = timedelta(days=30)
Purpose = ConsentRequest.Purpose


def ask(*, application: Application, base_url: str = "", at: datetime) -> ConsentRequest:
    """Ask the applicant for the consent to store `application`, again if there is no answer yet."""
    brand = application.vacancy.brand_id
    text = ConsentText.objects.current(application.language, brand)
    request, _is_new = ConsentRequest.objects.update_or_create(
        application=application,
        purpose=Purpose.APPLICATION,
        answer="",
        defaults={
            "text": text.text,
            "version": text.version,
            "asked_at": at,
            "reminded_at": None,
            "due_on": timezone.localdate(at) + ANSWERED_WITHIN,
        },
    )
    queue_question(request, base_url=base_url, at=at)
    return request


def open_request(application: Application) -> ConsentRequest | None:
    """Return the question that the applicant has not answered."""
    return ConsentRequest.objects.filter(
        application=application, purpose=Purpose.APPLICATION, answer=""
    ).first()


def answer(*, application: Application, is_agreed: bool, base_url: str = "", at: datetime) -> bool:
    """Record the answer of the applicant. Return whether the application has to be erased, because
    they do not agree. That of somebody who was hired is kept, and the colleague who added it is
    told.
    """
    with transaction.atomic():
        Application.objects.select_for_update().filter(pk=application.pk).first()
        request = open_request(application)
        if request is None:
            return False
        if not is_agreed and not Application.objects.filter(pk=application.pk).hired().exists():
            return True
        request.answer = ConsentRequest.Answer.YES if is_agreed else ConsentRequest.Answer.NO
        request.answered_at = at
        request.save(update_fields=["answer", "answered_at"])
        if not is_agreed:
            queue_refusal(application, base_url=base_url, at=at)
    return False
