"""The search of applications finds names that are spelt in another way."""

import pytest

from applications.models import Application
from applications.search import matching
from tests.applications.makers import make_user
from tests.factories import make_vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.each_database]

NAMES = (  # what somebody types, and the family name of the applicant
    ("Goosens", "Goossens"),
    ("Mueller", "Müller"),
    ("Djordjevic", "Đorđević"),
    ("Lefebvre", "Lefebure"),
    ("Lefebvre", "Lefèbvre"),
    ("Nunes", "Núñez"),
    ("Nunes", "Nuñes"),
    ("dhondt", "D'Hondt"),
    ("d'hondt", "D’Hondt"),
    ("D’Hondt", "DHondt"),
    ("Lukaszewski", "Łukaszewski"),
    ("Soerensen", "Sørensen"),
    ("Gossler", "Goßler"),
    ("Vandyck", "Van Dijck"),
    ("Petres", "Peters"),
    ("Jansens mia", "Janssens"),
)


def add(given, family, vacancy=None, **values):
    return Application.objects.create(
        vacancy=vacancy or make_vacancy(title="Cook"),
        given_name=given,
        family_name=family,
        **values,
    )


def found(text, rows=None):
    rows = Application.objects.all() if rows is None else rows
    return {each.family_name for each in matching(rows, text, tags=True)}


def test_names_with_accents_or_an_error_are_found():
    vacancy = make_vacancy(title="Cook")
    names = {name for _, name in NAMES}
    for name in names:
        add("Mia", name, vacancy)
    for typed, name in NAMES:
        assert name in found(f"~{typed}"), typed
    for typed, name in NAMES:
        Application.objects.update(family_name="Smet")
        Application.objects.filter(pk=Application.objects.latest("pk").pk).update(family_name=name)
        assert found(typed) == {name}, typed


def test_similar_names_are_found_only_if_nothing_has_the_words():
    vacancy = make_vacancy(title="Cook")
    for name in ("Peters", "Peter", "Pieters", "Claes", "Zoe"):
        add("Jan", name, vacancy)
    for text, expected in (
        ("peters", {"Peters"}),
        ("petr", {"Peter"}),
        ("petters", {"Peters", "Peter", "Pieters"}),  # one error after "tt" is "t"
        ("jan clas", {"Claes"}),
        ("cook clas", {"Claes"}),
        ("baker clas", set()),
        ("zo", {"Zoe"}),
        ("zoa", set()),  # too short for an error
        ("77777", set()),
        ("clas@example.org", set()),
    ):
        assert found(text) == expected, text
    assert not matching(Application.objects.all(), "peters").has_similar
    assert matching(Application.objects.all(), "petr").has_similar


def test_the_name_of_an_account_is_similar_if_it_is_shown():
    user = make_user()
    type(user).objects.filter(pk=user.pk).update(first_name="Mia", last_name="Müller")
    add("", "", user=user)
    add("Mia", "Smet", user=user)
    assert found("mueller") == {""}


def test_similar_names_are_those_of_the_given_rows():
    hidden = add("Mia", "Goossens")
    own = Application.objects.exclude(pk=hidden.pk)
    add("Jan", "Smet")
    assert found("goosens", own) == set()
