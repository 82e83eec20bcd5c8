"""What is read from a posted HTML form. tests/browser/test_form_markup.py compares the markup."""

import re
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string

from forms_structure.rendering import form_context, submitted
from tests.forms_structure.strategies import section, specimen, text_field
from tests.forms_structure.strategies import served as served_in_words


def form() -> list[dict[str, Any]]:
    return served_in_words(specimen())


def test_submitted_values_are_those_of_form_js() -> None:
    kept = {
        "permit": "no",
        "other_language": "Frisian",
        "other_level": "2",
        "which": "B",
        "moves": "1",
    }
    typed = {name: [value] for name, value in kept.items()} | {
        "mail": [""],
        "from": [""],
        "shift": [""],
    }
    typed |= {
        "first_name": ["  Zoë "],
        "permit_when": ["\r\nOne\r\n\r\nTwo \r\n"],
        "licences": ["yes", "no"],
    }

    kept |= {"first_name": "Zoë", "permit_when": "One\n\nTwo", "licences": ["yes", "no"]}
    assert submitted(form(), typed, {}) == (kept, {})


def test_fields_whose_condition_does_not_hold_are_left_out() -> None:
    """Without JavaScript, an applicant sees them all."""
    file = SimpleUploadedFile("certificate.pdf", b"%PDF-")
    values = {
        "permit": "no",
        "permit_when": "Soon",
        "english": "5",
        "which": "B",
        "from": "2027-01-01",
    }
    typed = {name: [value] for name, value in values.items()}
    assert submitted(form(), typed, {"certificate": file}) == (
        {"permit": "no", "permit_when": "Soon"},
        {},
    )

    typed["permit"] = ["yes"]
    values = {"permit": "yes", "english": "5", "certificate": "certificate.pdf"}
    assert submitted(form(), typed, {"certificate": file}) == (values, {"certificate": file})
    typed["english"] = ["4"]
    assert submitted(form(), typed, {"certificate": file}) == (
        {"permit": "yes", "english": "4"},
        {},
    )


def test_options_are_not_trimmed_and_white_space_is_empty() -> None:
    options = [{"value": " a ", "label": "A"}]
    fields = served_in_words(
        [section(text_field("one", type="select", options=options), text_field("two"))]
    )
    assert submitted(fields, {"one": [" a "], "two": [" \t"]}, {}) == ({"one": " a "}, {})


def test_what_the_form_does_not_have_is_kept_for_validation() -> None:
    file = SimpleUploadedFile("old.pdf", b"")
    values, files = submitted(form(), {"gone": ["x"], "empty": [""]}, {"letter": file})
    assert (values, files) == ({"gone": "x", "letter": "old.pdf"}, {})


def test_names_and_telephone_have_autocomplete_in_each_language() -> None:
    for names, tokens in (
        ("first_name last_name phone", "given-name family-name tel"),
        ("voornaam naam telefoon", "given-name family-name tel"),
        ("prenom nom telephone", "given-name family-name tel"),
        ("vorname nachname telefonnummer", "given-name family-name tel"),
        ("nom email", "name email"),
    ):
        context = form_context(
            served_in_words([section(*map(text_field, names.split()))]), language="en"
        )
        found = [
            re.search(r'autocomplete="([^"]+)"', field["attributes"])[1]  # type: ignore[index]
            for field in context["sections"][0]["fields"][: len(names.split())]
        ]
        assert found == tokens.split()


def test_typed_texts_are_escaped() -> None:
    attack = '"><script>alert(1)</script></textarea><script>'
    fields = (text_field(label=attack, type="textarea"), text_field("b", label=attack))
    shown = {"typed": {"city": [attack], "b": [attack]}, "errors": [("city", attack), (attack, "")]}
    context = form_context(
        served_in_words([section(*fields, title=attack)]), language="en", **shown
    )
    html = render_to_string(
        "forms_structure/form.html", {"form": context, "hidden_inputs": {attack: attack}}
    )
    assert html.count("alert(1)") > 10
    assert "<script" not in html
    assert html.count("</textarea>") == 1


def test_links_to_scripts_are_left_out() -> None:
    consent = text_field("privacy_consent", type="checkbox", required=True)
    for url, is_linked in (("https://example.com/", True), ("javascript:alert(1)", False)):
        link = {"label": "Privacy", "url": url}
        sections = served_in_words([section(text_field())], consent={**consent, "link": link})
        context = {"form": form_context(sections, language="en"), "hidden_inputs": {}}
        html = render_to_string("forms_structure/form.html", context)
        assert (f'href="{url}"' in html) == is_linked
