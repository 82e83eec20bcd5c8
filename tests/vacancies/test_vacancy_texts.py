"""Texts of a vacancy in other languages."""

import pytest
from django.core.exceptions import ValidationError

from jobsite.languages import text_languages
from tests.factories import make_vacancy
from vacancies.models import VacancyText
from vacancies.models.vacancy_text import TRANSLATED, digest_of, missing_texts, texts_of

pytestmark = pytest.mark.django_db


def test_languages_of_texts(settings):
    assert text_languages() == ()
    settings.TEXT_LANGUAGES = ["nl", "en", "fr"]
    assert text_languages() == ("en", "nl", "fr")


def test_texts_are_cleaned_when_written():
    row = VacancyText.objects.create(
        vacancy=make_vacancy(),
        language="fr",
        texts={"offer": "<script>x</script><p>Bien</p>", "title": " Infirmier ", "profile": "<p>"},
    )
    row.refresh_from_db()
    assert row.texts == {"title": "Infirmier", "offer": "<p>Bien</p>"}
    VacancyText.objects.update(texts={"offer": "<p onclick=x>Mieux</p>"})
    row.refresh_from_db()
    assert row.texts == {"offer": "<p>Mieux</p>"}


@pytest.mark.parametrize(
    "texts",
    [
        {"location": "Gent"},
        {"title": "x" * 301},
        {"title": None},
        {"title": "x\0"},
        {"title": "\ud800"},
        {"offer": "<b>" * 5000},
        {"offer": "x" * 100_001},
        ["title"],
    ],
)
def test_refused_texts(texts):
    with pytest.raises(ValidationError):
        VacancyText.objects.create(vacancy=make_vacancy(), language="fr", texts=texts)


@pytest.mark.each_database
def test_outdated_is_the_same_in_python_and_sql():
    vacancy = make_vacancy(title="Één verpleger", offer="<p>Goed</p>")
    text = VacancyText.objects.create(
        vacancy=vacancy,
        language="fr",
        texts={"title": "Infirmier"},
        is_ready=True,
        based_on=digest_of(texts_of(vacancy)),
    )
    assert not VacancyText.objects.outdated()
    vacancy.company = "<p>Wij</p>"
    vacancy.save()
    assert [*VacancyText.objects.outdated()] == [text]
    VacancyText.objects.update(based_on=digest_of(texts_of(vacancy)))
    assert not VacancyText.objects.outdated()


def test_a_translation_needs_what_the_original_has():
    original = {"title": "a", "offer": "b"}
    assert missing_texts({}, original) == ["title", "offer"]
    assert missing_texts({"title": "c", "offer": "d", "profile": "e"}, original) == []
    assert len(TRANSLATED) == 9
