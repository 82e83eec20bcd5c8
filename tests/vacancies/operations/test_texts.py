"""Saving texts in other languages: what is ready, what is outdated, and no mixture of languages."""

import random
from contextlib import suppress
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from tests.factories import make_brand, make_text, make_vacancy
from vacancies.exchange.importer import VacancyImporter
from vacancies.exchange.sources import SourceRow
from vacancies.history.diff import differences
from vacancies.history.versions import read_content, record_drift
from vacancies.models import (
    TRANSLATED,
    Approval,
    Change,
    Vacancy,
    VacancyText,
    Version,
    languages_of,
    shown_in,
)
from vacancies.operations.approval_decisions import approve, fingerprint
from vacancies.operations.approval_requests import (
    RequestConflictError,
    SaveConflictError,
    waiting_request,
)
from vacancies.operations.publication import duplicate
from vacancies.operations.restore import restore
from vacancies.operations.save import Edit, save_content
from vacancies.operations.texts import exchanged
from vacancies.operations.undo import undo_versions

pytestmark = pytest.mark.django_db
CODES = ("en", "nl", "fr")


@pytest.fixture(autouse=True)
def languages(settings):
    settings.TEXT_LANGUAGES = ["nl", "fr"]


def save(vacancy, wanted, **options):
    edit = Edit(wanted, **options)
    return save_content(vacancy, edit, author=None, at=timezone.now())


def text(is_ready=True, **texts):
    return {"texts": texts, "is_ready": is_ready, "based_on": ""}


def stored(vacancy, code="fr"):
    return read_content(vacancy)[f"text_{code}"]


def test_text_is_written_compared_and_restored():
    vacancy = make_vacancy(title="Nurse", description="<p>Care</p>")
    fr = text(title=" Infirmier ", description="<p onclick=x>Soins</p><script>1</script>")
    saved = save(vacancy, {"text_fr": fr})
    assert stored(vacancy)["texts"] == {"title": "Infirmier", "description": "<p>Soins</p>"}
    assert saved.plan.unfinished == []
    assert not VacancyText.objects.outdated()
    [found] = differences(saved.plan.before, saved.plan.after)
    assert (found.name, found.label) == ("text_fr", "French")
    assert "Infirmier" in found.marked
    first = Version.objects.latest("pk")
    pk = vacancy.translations.get().pk
    save(vacancy, {"text_fr": text(title="Soignant", description="<p>Soins</p>")})
    assert vacancy.translations.get().pk == pk
    restore(first, author=None, at=timezone.now())
    assert stored(vacancy)["texts"]["title"] == "Infirmier"
    copy = duplicate(vacancy=vacancy, at=timezone.now())
    assert stored(copy) == stored(vacancy)
    save(vacancy, {"text_fr": None})
    assert not vacancy.translations.exists()
    restore(first, author=None, at=timezone.now())
    assert stored(vacancy)["texts"]["title"] == "Infirmier"


def test_incomplete_text_is_not_ready():
    vacancy = make_vacancy(title="Nurse", description="<p>Care</p>")
    saved = save(vacancy, {"text_fr": text(title="Infirmier")})
    assert stored(vacancy)["is_ready"] is False
    assert saved.plan.unfinished == ["French is not ready: Description is missing."]
    save(vacancy, {"text_fr": text(title="Infirmier", description="<p>Soins</p>")})
    assert stored(vacancy)["is_ready"] is True
    saved = save(vacancy, {"offer": "<p>Pay</p>"})
    assert stored(vacancy)["is_ready"] is False
    assert saved.plan.unfinished == ["French is not ready: Offer is missing."]


def test_changed_original_makes_a_text_outdated():
    vacancy = make_vacancy(title="Nurse", description="")
    save(vacancy, {"text_fr": text(title="Infirmier")})
    ready = stored(vacancy)
    save(vacancy, {"title": "Head nurse"})
    assert [each.language for each in VacancyText.objects.outdated()] == ["fr"]
    save(vacancy, {"text_fr": {**ready, "texts": {"title": "Infirmier chef"}}})
    assert VacancyText.objects.outdated()
    save(vacancy, {"text_fr": {**ready, "based_on": ""}})
    assert not VacancyText.objects.outdated()


def test_refused_texts():
    vacancy = make_vacancy()
    for wanted in (
        {"text_fr": {"texts": {"location": "x"}}},
        {"text_fr": text(title="x" * 301)},
        {"text_en": text(title="x", description="<p>x</p>")},
        {"text_fr": text(title="x", description="<p>y</p>"), "language": "fr"},
    ):
        with pytest.raises(ValidationError):
            save(vacancy, wanted)
    assert not VacancyText.objects.exists()


def test_change_of_a_public_translation_needs_approval():
    vacancy = make_vacancy(brand=make_brand("Strict", requires_approval=True))
    wanted = {"text_fr": text(title="Infirmier", description="<p>Soins</p>")}
    saved = save(vacancy, wanted)
    assert [*saved.plan.requested] == ["text_fr"]
    assert stored(vacancy) is None
    save(vacancy, Approval.objects.get().changes, is_approved=True)
    assert stored(vacancy)["is_ready"]


def test_exchanged_languages_do_not_merge_with_an_older_text():
    vacancy = make_vacancy(title="Nurse", description="", offer="")
    make_text(vacancy, "fr", title="Infirmier")
    base = read_content(vacancy)
    save(vacancy, exchanged(base, "fr"))
    assert (stored(vacancy, "en")["texts"], stored(vacancy, "fr")) == ({"title": "Nurse"}, None)
    with pytest.raises(SaveConflictError):
        save(vacancy, {**base, "offer": "<p>English</p>"}, base=base)
    versions = Version.objects.filter(pk=Version.objects.latest("pk").pk)
    undo_versions(versions, author=None, at=timezone.now())
    now = read_content(vacancy)
    assert (now["title"], now["language"], now["text_en"]) == ("Nurse", "", None)


def test_request_from_before_an_exchange_is_not_approved():
    brand = make_brand("Strict", requires_approval=True)
    vacancy = make_vacancy(title="Nurse", description="", brand=brand)
    make_text(vacancy, "fr", title="Infirmier")
    record_drift(vacancy, at=timezone.now())
    save(vacancy, {"offer": "<p>English</p>"})
    Vacancy.objects.update(status="draft")
    save(vacancy, exchanged(read_content(vacancy), "fr"))
    vacancy.refresh_from_db()
    seen = fingerprint(vacancy, Approval.objects.get())
    with pytest.raises(ValidationError):
        approve(
            vacancy=vacancy,
            seen=seen,
            at=timezone.now(),
            author=User.objects.create_superuser("boss"),
        )
    assert read_content(vacancy)["offer"] == ""


def test_languages_that_the_site_has_no_more(settings):
    vacancy = make_vacancy(description="")
    make_text(vacancy, "fr", title="Infirmier")
    record_drift(vacancy, at=timezone.now())
    settings.TEXT_LANGUAGES = []
    assert "text_fr" not in read_content(vacancy)
    save(vacancy, {"title": "Other"})
    assert languages_of(Vacancy.objects.with_related().get()) == ["en"]
    settings.TEXT_LANGUAGES = ["fr"]
    assert languages_of(Vacancy.objects.with_related().get()) == ["en", "fr"]


# --- Random sequences ---


STEPS = "edit edit edit merge merge exchange restore undo toggle approve import"


class Model:
    """Random changes of a vacancy. Each text says its language: "fr 7"."""

    def __init__(self, seed):
        self.random, self.number = random.Random(seed), 0
        self.at = timezone.now() - timedelta(days=1)
        brand = make_brand("Strict", requires_approval=True) if seed % 2 else make_brand()
        self.vacancy = make_vacancy(title="en 0", description="<p>en 0</p>", brand=brand)
        self.boss = User.objects.create_superuser("boss")
        self.bases = [read_content(self.vacancy)]
        record_drift(self.vacancy, at=self.at)

    def word(self, language):
        self.number += 1
        return f"{language} {self.number}"

    def save(self, wanted, **options):
        self.at += timedelta(minutes=1)
        try:
            save_content(self.vacancy, Edit(wanted, **options), author=None, at=self.at)
        except (ValidationError, SaveConflictError, RequestConflictError):
            return
        self.bases.append(read_content(self.vacancy))

    def own(self, content):
        return content["language"] or "en"

    def edited(self, content):
        """Return `content` with some texts changed, each in its language."""
        names = self.random.sample(("title", "description", "offer"), 2)
        wanted = dict(content)
        code = self.random.choice(CODES)
        values = {
            name: self.word(code) if name == "title" or self.random.random() < 0.7 else ""
            for name in names
        }
        if code == self.own(content):
            return wanted | values
        before = (content[f"text_{code}"] or {"texts": {}})["texts"]
        is_ready = self.random.random() < 0.8
        return wanted | {f"text_{code}": text(is_ready, **{**before, **values})}

    def step(self):
        now = read_content(self.vacancy)
        others = [code for code in CODES if now[f"text_{code}"]]
        match self.random.choice(STEPS.split()):
            case "edit":
                self.save(self.edited(now))
            case "merge":
                base = self.random.choice(self.bases[-4:])
                self.save(self.edited(base), base=base)
            case "exchange" if others:
                self.save(exchanged(now, self.random.choice(others)))
            case "restore":
                versions = Version.objects.filter(vacancy=self.vacancy.pk)
                version = self.random.choice([*versions])
                self.at += timedelta(minutes=1)
                try:
                    restore(version, author=None, at=self.at)
                except ValidationError:
                    return
            case "toggle":
                row = Vacancy.objects.get(pk=self.vacancy.pk)
                row.status = "draft" if row.status == "published" else "published"
                row.save()
            case "approve" if waiting := waiting_request(self.vacancy):
                row, self.at = Vacancy.objects.get(pk=self.vacancy.pk), timezone.now()
                seen = fingerprint(row, waiting)
                with suppress(ValidationError):
                    approve(vacancy=row, seen=seen, at=self.at, author=self.boss)
            case "import":
                self.imports(now)
            case "undo":
                versions = Version.objects.filter(change=Change.CHANGED).order_by("-pk")[:3]
                if versions:
                    chosen = Version.objects.filter(pk=self.random.choice([*versions]).pk)
                    self.at += timedelta(minutes=1)
                    undo_versions(chosen, author=None, at=self.at)

    def imports(self, now):
        wanted = self.edited(now)
        item = {"id": self.vacancy.pk, "language": self.own(now), "title": wanted["title"]}
        item |= {name: wanted[name] for name in ("description", "offer")}
        item["translations"] = {
            code: {**each["texts"], "ready": each["is_ready"]}
            for code in CODES
            if (each := wanted[f"text_{code}"])
        }
        VacancyImporter().import_rows([SourceRow("row", item)])

    def check(self):
        """Every item is in one language, and complete."""
        vacancy = Vacancy.objects.with_related().get(pk=self.vacancy.pk)
        original = {name for name in TRANSLATED if getattr(vacancy, name)}
        for code in languages_of(vacancy):
            shown = shown_in(vacancy, code)
            texts = {name: t for name in TRANSLATED if (t := getattr(shown, name))}
            assert shown.shown_language == code
            assert original <= texts.keys(), (code, texts)
            for each in texts.values():
                assert code in each.replace("<p>", ""), (code, texts)
        assert vacancy.shown_language not in {t.language for t in vacancy.translations.all()}


@pytest.mark.slow("random sequences")
@pytest.mark.parametrize("seed", range(6))
def test_random_changes_show_no_mixture(seed):
    model = Model(seed)
    for _ in range(30):
        model.step()
        model.check()
