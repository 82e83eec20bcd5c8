"""The content of `manage.py demo`:
it is loaded once, and rolled back after the tests of this file.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import product
from pathlib import Path

import pytest
from django.db.models import Count
from django.test import override_settings
from PIL import Image

from applications.models import Application, Message, Submission
from forms_structure.models import Form
from forms_structure.roles import accepts_applications
from jobsite.db.transactions import dry_run
from jobsite.demo import content
from jobsite.demo.submissions import load_submissions
from jobsite.text.html import sanitise
from vacancies import models
from vacancies.choices import Keyword, State
from vacancies.exchange.columns import COLUMNS
from vacancies.fields import HtmlField
from vacancies.models import Attachment, Brand, Filter, FilterOption, Place, Recruiter, Vacancy

pytestmark = pytest.mark.django_db

AT = datetime(2031, 3, 5, 14, 7, 33, tzinfo=UTC)
MODELS = (
    Brand,
    Recruiter,
    Filter,
    FilterOption,
    Vacancy,
    models.VacancyOption,
    models.VacancyRecruiter,
    Place,
    Attachment,
)
NOTHING = dict.fromkeys(content.KINDS, 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("media")


@pytest.fixture(autouse=True)
def media(settings, folder):
    settings.MEDIA_ROOT = folder
    return folder


@pytest.fixture(scope="module", autouse=True)
def loaded(django_db_setup, django_db_blocker, folder):
    with django_db_blocker.unblock(), dry_run(True):
        with override_settings(MEDIA_ROOT=folder, TIME_ZONE="Europe/Brussels"):
            made = content.load(at=AT)
        yield made


def rows():
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in MODELS}


@pytest.mark.slow("makes the demo's content")
def test_every_state_list_field_and_vocabulary_is_used(loaded):
    assert all(loaded.values())
    assert {vacancy.state_at(AT) for vacancy in Vacancy.objects.all()} == {
        State.PUBLISHED,
        State.SCHEDULED,
        State.EXPIRED,
        State.DRAFT,
        State.UNPUBLISHED,
    }
    published = Vacancy.objects.published(at=AT)
    lists = {
        "public": published.external(),
        "second page": published.external()[20:],
        "hot": published.external().hot(),
        "internal": published.internal(),
        "hot internal": published.internal().hot(),
        "internal only": published.filter(audience="internal"),
        "hot and internal only": published.filter(audience="internal", is_hot=True),
        "both": published.filter(audience="both"),
        "continuously open": published.filter(is_permanent=True),
        "ending within a week": published.filter(publish_until__lte=AT + timedelta(days=7)),
    }
    assert [name for name, rows in lists.items() if not rows.exists()] == []
    assert [
        form.name for form in Form.objects.all() if not accepts_applications(form.whole_structure)
    ] == []
    for vacancy in Vacancy.objects.all():
        assert vacancy.created_at < vacancy.updated_at < AT
        assert not (vacancy.is_permanent and vacancy.publish_until)

    fields = (
        *("title_internal", "image", "image_url", "publish_until"),
        *(column.name for column in COLUMNS),
    )
    published = list(Vacancy.objects.published(at=AT).values(*fields))
    assert [
        field for field in fields if {bool(row[field]) for row in published} != {True, False}
    ] == []

    incomplete = [vacancy for vacancy in Vacancy.objects.all() if vacancy.missing_to_publish()]
    assert [vacancy.state_at(AT) for vacancy in incomplete] == ["draft"]
    assert Filter.objects.filter(is_active=False).count() == 1

    published = Vacancy.objects.published(at=AT).with_related()
    for keyword in Keyword:
        counts = [len(vacancy.labels(keyword)) for vacancy in published]
        assert min(counts) == 0
        assert (max(counts) == 1) == keyword.is_single
    assert not FilterOption.objects.filter(choices=None).exists()

    published = Vacancy.objects.published(at=AT)
    titles = list(published.values_list("title", flat=True))
    regions = published.filter(options__filter__keyword="regions").annotate(count=Count("options"))
    assert (min(map(len, titles)), max(map(len, titles))) == (3, 200)
    assert (
        max(len(text.encode()) for text in published.values_list("description", flat=True)) > 8192
    )
    assert max(regions.values_list("count", flat=True)) >= 12
    assert all(any(mark in title for title in titles) for mark in 'éøßœ🚀日μ&"')
    shown = {(bool(r.shown_email), bool(r.shown_phone)) for r in Recruiter.objects.all()}
    assert shown == set(product((True, False), repeat=2))


def test_closing_dates_end_at_midnight():
    vacancy = Vacancy.objects.get(title="Boulangère ou boulanger de nuit")
    assert vacancy.publish_until == datetime(2031, 3, 7, 23, 0, tzinfo=UTC)


def test_facts_are_varied_and_places_have_coordinates():
    assert list(Place.objects.filter(kind="site", latitude=None)) == []
    shown = Vacancy.objects.published(at=AT).with_related()
    assert {len(vacancy.sites) for vacancy in shown} == {0, 1, 2, 3, 4}
    assert max(len(vacancy.remote_countries) for vacancy in shown) == 4
    assert {kind for vacancy in shown for kind in vacancy.employment_types} == {
        "FULL_TIME",
        "PART_TIME",
        "CONTRACTOR",
        "TEMPORARY",
        "INTERN",
        "VOLUNTEER",
        "PER_DIEM",
    }
    assert {vacancy.language for vacancy in shown} == {"nl", "fr", "en", "de", "ja", "el", ""}
    assert {vacancy.pay_period for vacancy in shown} == {"hour", "day", "month", "year", ""}
    assert {vacancy.is_pay_public for vacancy in shown if vacancy.pay.is_known} == {True, False}


def test_texts_are_stored_as_written_and_lead_to_example_sites():
    text = content.CONTENT.read_text(encoding="utf-8")
    fields = [field.name for field in Vacancy._meta.fields if isinstance(field, HtmlField)]
    texts = [row.get(field, "") for row in json.loads(text)["vacancies"] for field in fields]
    assert [each for each in texts if sanitise(each) != each] == []
    assert set(re.findall(r"https?://([^/\"\\ ]+)", text)) == {"www.example.org", "www.example.com"}
    assert set(re.findall(r"@([\w.-]+\w)", text)) == {"example.org"}


def test_files_are_real_and_images_have_their_size(loaded):
    def files(model, field):
        paths = (Path(getattr(row, field).path) for row in model.objects.exclude(**{field: ""}))
        return [path.read_bytes() for path in paths]

    images = (Brand, "icon_small"), (Brand, "icon_large"), (Vacancy, "image")
    sizes = [{Image.open(BytesIO(content)).size for content in files(*each)} for each in images]
    assert sizes == [{(64, 64)}, {(256, 256)}, {(1200, 630)}]
    assert sorted(content[:5] for content in files(Attachment, "file")) == [
        b"%PDF-",
        b"%PDF-",
        b"Uurre",
    ]


def test_second_load_changes_nothing(loaded, media):
    before, files = rows(), sorted(media.rglob("*"))
    assert content.load(at=AT + timedelta(days=3)) == NOTHING
    assert rows() == before
    assert sorted(media.rglob("*")) == files

    found = {"status": "unpublished", "description": "<p>Found.</p>", "is_hot": False}
    Vacancy.objects.filter(title="CFO").update(**found)
    Vacancy.objects.filter(title="Pflegefachkraft Neonatologie (m/w/d)").update(title="Pflege")
    Vacancy.objects.filter(title="Boulangère ou boulanger de nuit").delete()
    Recruiter.objects.filter(name="Bram de Koster").update(is_email_public=False)
    Brand.objects.filter(name="Lumen & Kade").update(url="")
    Filter.objects.filter(keyword="regions").update(label="Province", is_active=False)
    FilterOption.objects.filter(value="liege").update(label="Luik")
    FilterOption.objects.filter(value="antwerp").update(value="antwerpen")
    before = rows()
    assert content.load(at=AT) == NOTHING
    assert rows() == before


def test_submissions_are_complete_and_their_receipts_count_as_sent(loaded):
    assert load_submissions(at=AT) == Submission.objects.count() == 7
    assert Application.objects.filter(submission__files__kind="pdf").count() == 3
    assert set(Message.objects.values_list("kind", "state")) == {("receipt", "sent")}
    assert {row.email_folded.partition("@")[2] for row in Application.objects.all()} == {
        "example.org"
    }
    assert load_submissions(at=AT) == 0
