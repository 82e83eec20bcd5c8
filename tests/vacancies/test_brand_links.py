"""The links of pages and emails:
which are shown, what can be stored, and what a change makes invalid.
"""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from forms_structure.models import ConsentText
from jobsite.serving.revision import read_state
from tests.factories import make_brand
from vacancies.checks import privacy_statement_is_linked
from vacancies.models import BrandLink

pytestmark = pytest.mark.django_db
URL = "https://acme.test/"


def add(kind, language="en", brand=None, label="", url=URL):
    link = BrandLink(kind=kind, language=language, brand=brand, label=label, url=url)
    link.full_clean()
    link.save()
    return link


def shown(language="en", brand=None):
    """Return the owner, the language and the text of each link."""
    links = BrandLink.shown(language, brand)
    return [f"{'own' if link.brand_id else 'site'} {link.language} {link}" for link in links]


def test_links_of_the_brand_come_before_the_language():
    acme = make_brand("Acme")
    assert shown() == shown("nl", acme.pk) == []
    add("imprint", "en", label="Site")
    add("imprint", "nl", label="Site")
    add("accessibility", "fr", label="Site")
    assert shown("nl") == ["site nl Site", "site fr Site"]  # no language is left without it
    assert shown("de") == ["site en Site", "site fr Site"]  # that of the site
    add("imprint", "fr", acme, "Acme")
    for label in ("Team", "Blog"):
        add("other", "nl", acme, label)
    add("other", "en", acme, "Press")
    assert shown("nl", acme.pk) == [
        "own fr Acme",
        "site fr Site",
        "own nl Team",
        "own nl Blog",
    ]
    assert shown("fr", acme.pk)[2:] == ["own en Press"]
    assert shown("nl", make_brand("Other").pk) == shown("nl")


def test_privacy_statement_is_that_of_the_consent_text_unless_there_is_a_link(settings):
    settings.CAREER_SITE = True
    acme = make_brand("Acme")
    assert [each.id for each in privacy_statement_is_linked()] == ["jobsite.W042"]
    ConsentText.objects.add(
        language="en", text="Yes", statement_url=URL, statement_label="Site, consent"
    )
    assert privacy_statement_is_linked() == []
    assert shown("nl") == ["site en Site, consent"]
    add("privacy", "nl", label="Site")
    assert (shown("nl"), shown("en")) == (["site nl Site"], ["site en Site, consent"])
    own = {"brand_number": acme.pk, "language": "en", "text": "Yes"}
    ConsentText.objects.add(**own, statement_url=URL, statement_label="Acme, consent")
    assert shown("nl", acme.pk) == ["own en Acme, consent"]  # the right employer
    add("privacy", "en", acme, "Acme")
    assert shown("nl", acme.pk) == ["own en Acme"]
    ConsentText.objects.all().delete()
    BrandLink.objects.all().delete()
    settings.CAREER_SITE = False
    assert privacy_statement_is_linked() == []


def test_invalid_links_are_refused():
    acme = make_brand("Acme")
    for url in (
        "javascript:alert(1)",
        "mailto:a@acme.test",
        "//acme.test",
        "/privacy",
        "",
        "https://",
    ):
        with pytest.raises(ValidationError) as refusal:
            add("privacy", url=url)
        assert list(refusal.value.message_dict) == ["url"], url
    add("privacy")
    add("privacy", "nl")
    add("privacy", brand=acme)
    for values in ({"kind": "privacy"}, {"kind": "other"}):
        with pytest.raises(ValidationError):
            add(**values)
        with pytest.raises(IntegrityError), transaction.atomic():
            BrandLink.objects.create(language="en", url=URL, **values)
    for number in range(5):
        add("other", label=f"{number}")
    with pytest.raises(ValidationError, match="6 links"):
        add("other", label="6")
    BrandLink.objects.last().full_clean()  # one of them can still be changed
    add("other", "nl", label="another language")


def test_every_change_of_a_link_makes_cached_pages_invalid(transactional_db):
    numbers = [read_state().number]
    link = add("imprint")
    numbers.append(read_state().number)
    BrandLink.objects.update(label="x")
    numbers.append(read_state().number)
    link.delete()
    numbers.append(read_state().number)
    assert numbers == sorted(set(numbers))
