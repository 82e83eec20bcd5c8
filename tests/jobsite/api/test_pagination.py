"""Page arithmetic, for any total and size."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsite.api.pagination import PageNumberPagination
from jobsite.api.parameters import NUMBER_ALLOWED
from tests.factories import make_vacancy


def page(total, size, number):
    """Return the envelope of one page of `total` rows, which are their positions."""
    paginator = PageNumberPagination()
    paginator.read({"page[size]": str(size), "page[number]": str(number)})
    return {"data": paginator.set_total(total)} | paginator.links_and_meta(
        "http://testserver/v1/things"
    )


def size_and_number(link):
    """Return (size, number) of a link, or None."""
    names = dict(parse_qsl(urlsplit(link or "").query))
    return (int(names["page[size]"]), int(names["page[number]"])) if link else None


@given(total=st.integers(0, 5000), size=st.integers(1, 300), number=st.integers(1, 10**9 - 1))
def test_links_and_meta_are_consistent(total, size, number):
    body = page(total, size, number)
    in_effect = min(size, 100)
    last = max(1, (total + in_effect - 1) // in_effect)
    rows = (
        list(range(total))[(number - 1) * in_effect : number * in_effect] if number <= last else []
    )

    assert list(body["data"]) == rows
    assert body["meta"] == {
        "current_page": number,
        "from": rows[0] + 1 if rows else None,
        "last_page": last,
        "path": "http://testserver/v1/things",
        "per_page": in_effect,
        "to": rows[-1] + 1 if rows else None,
        "total": total,
    }
    assert {name: size_and_number(link) for name, link in body["links"].items()} == {
        "first": (in_effect, 1),
        "last": (in_effect, last),
        "prev": (in_effect, min(number - 1, last)) if number > 1 else None,
        "next": (in_effect, number + 1) if number < last else None,
    }


assert NUMBER_ALLOWED == "a whole number from 1 to 999999999 in plain digits"


@pytest.mark.django_db
def test_links_are_canonical_and_numbers_are_checked(client, settings):
    scrambled = (
        "/v1/vacancies?utm_source=x&fields=id,title&page[number]=1&sort=-title&filter[search]=a b"
        "&_=1&page[size]=7&filter[regions]=gent,luik&filter[functiongroup]=it"
    )

    assert client.get(scrambled).json()["links"]["first"] == (
        "http://testserver/v1/vacancies?filter%5Bfunctiongroup%5D=it&filter%5Bregions%5D=gent%2Cluik"
        "&filter%5Bsearch%5D=a%20b&sort=-title&fields=id%2Ctitle&page%5Bsize%5D=7&page%5Bnumber%5D=1"
    )

    settings.PAGE_SIZE_MAX, settings.PUBLIC_BASE_URL = 2, "https://jobs.example.com/api"
    for _ in range(3):
        make_vacancy()

    body = client.get("/v1/vacancies", {"page[size]": "999999999"}).json()

    assert (body["meta"]["per_page"], len(body["data"])) == (2, 2)
    assert body["meta"]["path"] == (base := "https://jobs.example.com/api/v1/vacancies")
    assert body["links"]["next"] == f"{base}?page%5Bsize%5D=2&page%5Bnumber%5D=2"

    values = (
        "",
        "0",
        "-1",
        "+1",
        "1.5",
        "1e3",
        "01",
        "1_0",
        "²",
        "١",
        "abc",
        " 1",
        "1 ",
        "1\n",
        "1234567890",
        "0x1",
        "\0",
    )
    cases = [
        ("/v1/vacancies", name, value)
        for name in ("page[size]", "page[number]")
        for value in values
    ]
    cases += [
        ("/v0.1/vacancies", "page[size]", "²"),
        ("/v0.1/vacancies/internal", "page[number]", "0"),
    ]
    for path, name, value in cases:
        answer = client.get(path, {name: value})

        detail = f"{name} must be {NUMBER_ALLOWED}; received {value!r}."
        problem = {
            "parameter": name,
            "detail": detail,
            "received": value,
            "allowed": NUMBER_ALLOWED,
        }
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json"), (
            path
        )
        assert answer.json()["errors"] == [problem], path
