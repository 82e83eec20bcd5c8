"""The content of `manage.py demo`: it is loaded once, and rolled back after the tests of this file."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db.models import Count
from django.test import override_settings
from PIL import Image

from applications.models import Application, Message, Submission
from forms_structure.models import Form
from forms_structure.roles import accepts_applications
from jobsite.demo import content
from jobsite.demo.submissions import load_submissions
from jobsite.html import sanitise
from jobsite.ops.commands import dry_run
from vacancies.choices import Keyword
from vacancies.fields import HtmlField
from vacancies.models import (
    Attachment,
    Brand,
    Filter,
    FilterOption,
    Recruiter,
    State,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

pytestmark = pytest.mark.django_db

AT = datetime(2031, 3, 5, 14, 7, 33, tzinfo=UTC)
MODELS = (Brand, Recruiter, Filter, FilterOption, Vacancy, VacancyOption, VacancyRecruiter, Attachment)
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
        with override_settings(MEDIA_ROOT=folder):
            made = content.load(at=AT)
        yield made


def rows():
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in MODELS}


def test_load_returns_the_number_of_rows(loaded):
    assert loaded == {
        "brands": 5,
        "recruiters": 8,
        "filters": 9,
        "options": 84,
        "vacancies": 51,
        "attachments": 6,
        "forms": 4,
    }


def test_every_state_occurs(loaded):
    assert Counter(vacancy.state_at(AT) for vacancy in Vacancy.objects.all()) == {
        State.PUBLISHED: 41,
        State.SCHEDULED: 3,
        State.EXPIRED: 2,
        State.DRAFT: 3,
        State.UNPUBLISHED: 2,
    }


def test_every_list_has_vacancies(loaded):
    published = Vacancy.objects.published(at=AT)
    assert {
        "public": published.external().count(),
        "hot": published.external().hot().count(),
        "internal": published.internal().count(),
        "hot internal": published.internal().hot().count(),
        "internal only": published.filter(audience="internal").count(),
        "hot and internal only": published.filter(audience="internal", is_hot=True).count(),
        "both": published.filter(audience="both").count(),
        "continuously open": published.filter(is_permanent=True).count(),
        "ending within a week": published.filter(publish_until__lte=AT + timedelta(days=7)).count(),
    } == {
        "public": 35,
        "hot": 8,
        "internal": 12,
        "hot internal": 4,
        "internal only": 6,
        "hot and internal only": 2,
        "both": 6,
        "continuously open": 4,
        "ending within a week": 3,
    }


def test_every_form_accepts_applications(loaded):
    assert [form.name for form in Form.objects.all() if not accepts_applications(form.whole_structure)] == []


def test_datetimes_are_plausible(loaded):
    for vacancy in Vacancy.objects.all():
        assert vacancy.created_at < vacancy.updated_at < AT
        assert not (vacancy.is_permanent and vacancy.publish_until)


def test_every_optional_field_is_filled_and_empty_on_published_vacancies(loaded):
    fields = (
        *("title_internal", "location", "image", "image_url", "video", "apply_url", "publish_until"),
        *("description", "short_description", "profile", "offer", "contact", "company", "postcustom1"),
    )
    published = list(Vacancy.objects.published(at=AT).values(*fields))
    assert [field for field in fields if {bool(row[field]) for row in published} != {True, False}] == []


def test_brand_and_head_recruiter_are_missing_on_a_draft_only(loaded):
    incomplete = [vacancy for vacancy in Vacancy.objects.all() if vacancy.missing_to_publish()]
    assert [(vacancy.title, vacancy.state_at(AT)) for vacancy in incomplete] == [
        ("Developer advocate", "draft")
    ]


def test_every_vocabulary_is_used_in_full_and_missing_somewhere(loaded):
    published = Vacancy.objects.published(at=AT).with_related()
    for keyword in Keyword:
        counts = [len(vacancy.labels(keyword)) for vacancy in published]
        assert min(counts) == 0
        assert (max(counts) == 1) == keyword.is_single
    assert not FilterOption.objects.filter(choices=None).exists()


def test_all_filters_but_one_are_offered(loaded):
    assert list(Filter.objects.values_list("label", "is_active")) == [
        ("Job category", True),
        ("Type", True),
        ("Contract", True),
        ("Working time", True),
        ("Region", True),
        ("Sector", True),
        ("Experience", True),
        ("Languages", True),
        ("Benefits", False),
    ]


def test_order_is_that_of_the_content(loaded):
    vacancy = Vacancy.objects.with_related().get(title="Verpleegkundige spoedgevallen (m/v/x)")
    assert [link.recruiter.name for link in vacancy.ordered_recruiter_links] == [
        "Fatima El Amrani",
        "Tomasz Wiśniewski",
    ]
    assert vacancy.labels(Keyword.TYPES) == ["Experienced professional", "Graduate"]
    assert [attachment.name for attachment in vacancy.attachments.all()] == [
        "Functieprofiel spoedgevallen.pdf",
        "uurregeling.txt",
    ]


def test_edge_cases_exist(loaded):
    published = Vacancy.objects.published(at=AT)
    titles = list(published.values_list("title", flat=True))
    sizes = [len(text.encode()) for text in published.values_list("description", flat=True)]
    regions = published.filter(options__filter__keyword="regions").annotate(count=Count("options"))
    assert (min(map(len, titles)), max(map(len, titles))) == (3, 200)
    assert max(sizes) > 8192
    assert max(regions.values_list("count", flat=True)) >= 12
    assert all(any(mark in title for title in titles) for mark in 'éøßœ🚀日μ&"')


def test_texts_are_stored_as_written():
    fields = [field.name for field in Vacancy._meta.fields if isinstance(field, HtmlField)]
    for row in json.loads(content.CONTENT.read_text(encoding="utf-8"))["vacancies"]:
        for field in fields:
            assert sanitise(row.get(field, "")) == row.get(field, "")


def test_texts_lead_to_example_sites_only():
    text = content.CONTENT.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://([^/\"\\ ]+)", text)) == {"www.example.org", "www.example.com"}
    assert set(re.findall(r"@([\w.-]+\w)", text)) == {"example.org"}


def test_contact_data_is_partly_private(loaded):
    assert {(bool(r.shown_email), bool(r.shown_phone)) for r in Recruiter.objects.all()} == {
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    }
    assert Recruiter.objects.get(function="").name == "Selectiecel Waterlanden"
    assert Recruiter.objects.exclude(image="").count() == 2


# --- Files -------------------------------------------------------------------------------------


def image_sizes(fields):
    sizes = []
    for field in fields:
        with Image.open(field.path) as image:
            sizes.append(image.size)
    return sizes


def test_images_open_at_their_size(loaded):
    brands = Brand.objects.all()
    assert {
        "small icons": image_sizes(brand.icon_small for brand in brands),
        "large icons": image_sizes(brand.icon_large for brand in brands),
        "headers": image_sizes(vacancy.image for vacancy in Vacancy.objects.exclude(image="")),
    } == {"small icons": [(64, 64)] * 5, "large icons": [(256, 256)] * 5, "headers": [(1200, 630)] * 6}


def test_uploads_are_real_files(loaded):
    uploads = Attachment.objects.exclude(file="")
    assert {upload.name: Path(upload.file.path).read_bytes()[:5] for upload in uploads} == {
        "Functieprofiel spoedgevallen.pdf": b"%PDF-",
        "uurregeling.txt": b"Uurre",
        "Selectiereglement.pdf": b"%PDF-",
    }


# --- Second run --------------------------------------------------------------------------------


def test_second_load_changes_nothing(loaded, media):
    before, files = rows(), sorted(media.rglob("*"))
    assert content.load(at=AT + timedelta(days=3)) == NOTHING
    assert rows() == before
    assert sorted(media.rglob("*")) == files


def test_second_load_keeps_changes(loaded):
    Vacancy.objects.filter(title="CFO").update(
        status="unpublished", description="<p>Found.</p>", is_hot=False
    )
    Recruiter.objects.filter(name="Bram de Koster").update(is_email_public=False)
    Brand.objects.filter(name="Lumen & Kade").update(url="")
    Filter.objects.filter(keyword="regions").update(label="Province", is_active=False)
    FilterOption.objects.filter(value="liege").update(label="Luik")
    FilterOption.objects.filter(value="antwerp").update(value="antwerpen")
    before = rows()
    assert content.load(at=AT) == NOTHING
    assert rows() == before


def test_second_load_keeps_renames_and_deletions(loaded):
    Filter.objects.filter(keyword="regions").update(label="Province", is_active=False)
    FilterOption.objects.filter(value="liege").update(label="Luik")
    Vacancy.objects.filter(title="Pflegefachkraft Neonatologie (m/w/d)").update(title="Pflege")
    Vacancy.objects.filter(title="Boulangère ou boulanger de nuit").delete()
    count = Vacancy.objects.count()

    assert content.load(at=AT) == NOTHING

    assert Vacancy.objects.count() == count
    assert Filter.objects.get(keyword="regions").label == "Province"


def test_submissions_are_complete_and_their_receipts_count_as_sent(loaded):
    made = load_submissions(at=AT)

    assert made == Submission.objects.count() == 7
    assert Application.objects.filter(submission__files__isnull=False).count() == 1
    assert set(Message.objects.values_list("kind", "state")) == {("receipt", "sent")}
    assert {row.email_folded.partition("@")[2] for row in Application.objects.all()} == {"example.org"}
    assert load_submissions(at=AT) == 0
