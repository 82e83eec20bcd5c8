"""The rows that the tasks need, added to the demo. Run by `manage.py shell` of the measured site,
so it uses only what every version has.
"""

from datetime import timedelta
from hashlib import sha256

from django.contrib.auth.models import User
from django.utils import timezone

from applications import models
from applications.models import (
    Application,
    FormSnapshot,
    MailTemplate,
    Stage,
    StageChange,
    Submission,
    SubmissionFile,
)
from applications.models.application import new_reference
from applications.submissions.links import receipt_path
from jobsite import private_files
from tests.applications.pdf import pdf
from vacancies.history.versions import record
from vacancies.models import Change, Recruiter, Vacancy

now = timezone.now()
recruiter = User.objects.get(username="recruiter")
brand = recruiter.brands.order_by("pk").first()
lead = Recruiter.objects.order_by("pk").first()
soon = now + timedelta(days=7)
Vacancy.objects.filter(publish_until__gt=now, publish_until__lte=soon).update(
    publish_until=soon + timedelta(days=30)
)


def make(title: str, **values: object) -> Vacancy:
    defaults = {
        "status": "published",
        "publish_from": now - timedelta(days=30),
        "description": f"<p>{title}</p>",
        "created_at": now - timedelta(days=31),
        "updated_at": now - timedelta(days=30),
        "image_url": "https://images.example/one.png",
    }
    return Vacancy.objects.create(
        title=title, brand=brand, head_recruiter=lead, **defaults | values
    )


for day in range(1, 6):
    make(f"Tour closing {day}", publish_until=now + timedelta(days=day))
make("Tour duplicate")
make("Tour unpublish", publish_until=now + timedelta(days=60))
make("Tour schedule", status="draft", publish_from=None)
if hasattr(Vacancy, "pay_min"):
    make("Tour paid", pay_min=2000, pay_currency="EUR", pay_period="month")
make("Tour facts", location="Antwerp")

changed = make("Tour restore", description="<p>The text of last week.</p>")
record(changed, Change.CREATED, author=recruiter, at=now - timedelta(days=30))
for days, text in ((7, "The text of last week."), (2, "Wrong text."), (1, "Wrong text again.")):
    changed.description, changed.title = f"<p>{text}</p>", "Tour restore"
    changed.location = f"Room {days}"
    changed.save()
    record(changed, Change.CHANGED, author=recruiter, at=now - timedelta(days=days))

inbox = make("Tour applications")
stage = Stage.objects.order_by("position", "pk").first()
people = [(f"Given{number}", "Tourist") for number in range(12)] + [("Noor", "Zyxmans")]
questions = [
    {
        "title": "About you",
        "description": "",
        "fields": [
            {"name": name, "type": type_, "label": label, "required": False, "css": "col-12"}
            for name, type_, label in (("why", "textarea", "Why this job?"), ("cv", "file", "CV"))
        ],
    }
]
snapshot = FormSnapshot.objects.create(digest="tour", sections=questions)
for number, (given, family) in enumerate(people):
    at, address = now - timedelta(hours=number), f"{given}.{family}@example.org".lower()
    application = Application.objects.create(
        vacancy=inbox,
        reference=new_reference(),
        given_name=given,
        family_name=family,
        email=address,
        email_folded=address,
        language="en",
        created_at=at,
        updated_at=at,
    )
    StageChange.objects.create(application=application, stage=stage, at=at)
    submission = Submission.objects.create(
        application=application,
        snapshot=snapshot,
        values={"why": "I like people. " * 20, "cv": "cv.pdf"},
        consent_text="I agree.",
        consent_version=1,
        consented_at=at,
        fingerprint=f"tour {number}",
    )
    content, stored = pdf(f"CV of {given} {family}"), f"{number:032x}"
    private_files.write(stored, [content])
    SubmissionFile.objects.create(
        submission=submission,
        original_name="cv.pdf",
        field="cv",
        kind="pdf",
        path=stored,
        size=len(content),
        sha256=sha256(content).hexdigest(),
    )
texts = {"subject_en": "Your application", "body_en": "Dear {name}, thank you."}
MailTemplate.objects.get_or_create(name="Rejection of the tour", defaults=texts)

# Twelve more, of another vacancy. "Rejected" has an email, and the last one may choose a time.
if hasattr(models, "Offer"):
    template = MailTemplate.objects.get(name="Rejection of the tour")
    Stage.objects.filter(kind="rejected").update(email=template)
    talks = make("Tour talks")
    for number in range(12):
        address, at = f"talk{number}@example.org", now - timedelta(hours=number)
        application = Application.objects.create(
            vacancy=talks,
            reference=new_reference(),
            given_name=f"Given{number}",
            family_name="Zyxtalk",
            email=address,
            email_folded=address,
            language="en",
            created_at=at,
            updated_at=at,
        )
        StageChange.objects.create(application=application, stage=stage, at=at)
    times = models.SlotSet.objects.create(
        vacancy=talks,
        author=recruiter,
        name="Talk",
        minutes=60,
        zone="Europe/Brussels",
        notice_hours=24,
        closes_at=now + timedelta(days=5),
    )
    for hour in range(8):
        models.Slot.objects.create(set=times, starts_at=now + timedelta(days=7, hours=hour))
    models.Offer.objects.create(set=times, application=application)
    # The link of the email, where the tour finds it.
    models.Note.objects.create(
        application=application, author=recruiter, text=receipt_path(application), created_at=now
    )
