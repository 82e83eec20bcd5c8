"""Lists in parameters, and parameter names of other APIs."""

import pytest

from tests.factories import make_vacancy
from vacancies.choices import Fact
from vacancies.filtersets import filter_name

pytestmark = pytest.mark.django_db

PAGING = ["page[size]", "page[number]"]
REGIONS, SEARCH = "filter[regions]", "filter[search]"
# The comma form, and equivalent forms.
SAME_LISTS = {
    "filter[regions]=antwerp,mons": (
        "filter[regions]=antwerp&filter[regions]=mons",
        "filter[regions][]=antwerp&filter[regions][]=mons",
        "filter[regions][]=antwerp,mons",
        "filter[regions]=antwerp&filter[regions][]=mons",
        "filter%5Bregions%5D=antwerp&filter%5Bregions%5D%5B%5D=mons",
        "filter[regions]=antwerp%2Cmons",
        "utm_source=x&filter[regions]=antwerp&_=1&filter[regions]=mons",
    ),
    "filter[regions]=antwerp,ghent,mons": (
        "filter[regions]=antwerp,ghent&filter[regions][]=mons",
        "filter[regions]=antwerp&filter[regions]=ghent,mons",
    ),
    "filter[regions]=mons,mons": ("filter[regions]=mons&filter[regions]=mons",),
    "filter[types]=driver": ("filter[types][]=driver",),
    "filter[country]=BE,NL": ("filter[country]=BE&filter[country][]=NL",),
    "fields=id,title": (
        "fields=id&fields=title",
        "fields[]=id&fields[]=title",
        "fields[]=id,title",
        "fields%5B%5D=id&fields%5B%5D=title",
        "fields=id&fields[]=title",
    ),
    "filter[regions]=ghent,mons&sort=title&fields=id,slug&page[size]=1": (
        "fields=id&page[size]=1&filter[regions]=ghent&fields=slug&sort=title&filter[regions]=mons",
    ),
}


@pytest.fixture
def three(at, filters):
    make_vacancy(
        title="A", options={"regions": ["Antwerp", "Ghent"], "types": ["Nurse"]}, is_hot=True
    )
    make_vacancy(title="B", options={"regions": ["Ghent"], "types": ["Driver"]})
    make_vacancy(title="C", options={"regions": ["Mons"], "types": ["Nurse"]}, audience="both")


def comparable(answer):
    return answer.status_code, answer.content, dict(answer.headers)


@pytest.mark.slow("requests many forms of each list")
@pytest.mark.each_django
def test_forms_of_a_list_are_equivalent_and_other_names_ignored(client, three):
    paths = ["/v1/vacancies", "/v1/vacancies/hot", "/v1/vacancies/internal", "/v1/filters"]
    for comma, others in SAME_LISTS.items():
        for path in paths[: 3 if "fields" in comma else 4]:
            expected = client.get(f"{path}?{comma}")
            assert expected.status_code == 200
            for other in others:
                assert comparable(client.get(f"{path}?{other}")) == comparable(expected), other

    for path in ("/v1/vacancies", "/v0.1/vacancies", "/v1/filters"):
        plain = client.get(path).content
        for name in ("utm_source", "utm_term", "_", "", "[]", "fbclid", "v", "ref", "cb", "_ga"):
            assert client.get(path, {name: "5"}).content == plain, (path, name)
    assert client.get(f"/v1/vacancies/{make_vacancy().pk}?limit=5&q=x&start=3").status_code == 200

    query = "fields[]=title&filter[regions]=mons&filter[regions][]=ghent&fields=id"
    body = client.get(f"/v1/vacancies?{query}").json()

    assert [item["title"] for item in body["data"]] == ["C", "B", "A"]
    assert body["links"]["first"] == (
        "http://testserver/v1/vacancies?filter%5Bregions%5D=mons%2Cghent&fields=title%2Cid"
        "&page%5Bsize%5D=20&page%5Bnumber%5D=1"
    )


def test_invalid_list_or_repeated_parameter_is_rejected(client):
    for query, name, received in (
        ("filter[regions]=&filter[regions]=mons", REGIONS, ",mons"),
        ("filter[regions]=mons&filter[regions][]=", REGIONS, "mons,"),
        ("filter[regions][]=", REGIONS, ""),
        ("filter[regions][]=a%20b&filter[regions][]=c", REGIONS, "a b,c"),
        ("filter[regions][]=%FF", REGIONS, "\ufffd"),
        ("&".join(["filter[regions]=a"] * 101), REGIONS, ",".join("a" * 101)[:200]),
        ("fields[]=", "fields", ""),
        ("fields=id&fields=no_such_key", "fields", "id,no_such_key"),
    ):
        answer = client.get(f"/v1/vacancies?{query}")
        found = [(error["parameter"], error["received"]) for error in answer.json()["errors"]]
        assert (answer.status_code, found) == (400, [(name, received)])

    for name in ("page[size]", "page[number]", "sort", SEARCH, "filter[near]"):
        answer = client.get(f"/v1/vacancies?{name}=1&{name}=1")
        detail = f"{name} is given more than once."
        problem = {
            "parameter": name,
            "detail": detail,
            "received": ["1", "1"],
            "allowed": "one value",
        }
        assert (answer.status_code, answer.json()["errors"]) == (400, [problem])
    assert client.get(f"/v1/vacancies/{make_vacancy().pk}?preview=a&preview=a").status_code == 400


NEAR_MISSES = {
    "page[size]": "page_size pageSize page-size per_page perPage limit LIMIT _limit $top size "
    "page[limit] Page[size] page[size][] page%5Bsize%5D",
    "page[number]": "page Page offset page[offset] page_number _page pageNumber skip $skip start "
    "number next page[]",
    SEARCH: "q query search Search keywords filter[q] filter[search][]",
    "sort": "sort_by sortBy order order_by ordering sort[] _sort dir",
    "fields": "field select $select Fields",
    REGIONS: "region regions filter.regions FILTER[REGIONS] filters[regions] filter_region "
    "regionId regoins city where[regions] zip",
    "filter[types]": "type types filter[type] job_type vacancyTypes",
    "filter[contract_types]": "contract_type contractType contract",
    "filter[work_regimes]": "work_regime work-regimes",
    "filter[functiongroup]": "function_group functiongroups category",
    "filter[jobcustom1_values]": "jobcustom1_values jobcustom1",
    "filter[brand]": "brand brands filter[brands] brand_id employer",
    "filter[country]": "country filter[countries] countryCode filter[remote_countries] contry",
    "filter[work_place]": "work_place filter[workPlace] workplaces filter[remote] is_remote",
    "filter[employment_types]": (
        "employment_types employmentType filter[employment_type] employment"
    ),
    "filter[language]": "language lang filter[languages]",
    "filter[near]": "near filter[near][] lat lng longitude radius filter[distance]",
}
# Keys of an item, and names of other APIs, for which there is no parameter.
NO_PARAMETERS = """is_hot hot isPermanent title titel location
    createdAfter date_from locale recruiter head_recruiter_id company id ids status
    internal filters[x] page_x active valid_until seniority filter[pay] closes_at"""
CHANGES = "updated_at updated_since since lastModified filter[modified]"
RESEMBLE_NOTHING = (
    "session source campaign version random timestamp offerwall api_key foo x contest token"
)


def test_name_of_another_api_is_rejected_with_the_right_name(client):
    for right, names in NEAR_MISSES.items():
        for wrong in names.split():
            answer = client.get("/v1/vacancies", {wrong: "5"})
            problem = {
                "parameter": wrong,
                "detail": f"Use {right} instead of {wrong}.",
                "received": "5",
            }
            assert (answer.status_code, answer.json()["errors"]) == (
                400,
                [problem | {"allowed": [right]}],
            )
    for wrong in NO_PARAMETERS.split():
        answer = client.get("/v1/vacancies", {wrong: "5"})
        assert (answer.status_code, answer.json()["detail"]) == (
            400,
            f"{wrong} is not a parameter here.",
        )
    for wrong in CHANGES.split():
        answer = client.get("/v1/vacancies", {wrong: "5"})
        assert (answer.status_code, answer.json()["detail"]) == (
            400,
            f"{wrong} is not a parameter here. /v1/vacancies/changes has what changed.",
        )
    for name in RESEMBLE_NOTHING.split():
        assert client.get("/v1/vacancies", {name: "5"}).status_code == 200, name

    for path, wrong, detail in (
        ("/v0.1/vacancies", "limit", "Use page[size] instead of limit."),
        ("/v0.1/vacancies", "page", "Use page[number] instead of page."),
        ("/v1/filters", "q", "Use filter[search] instead of q."),
        ("/v1/filters", "regions", "Use filter[regions] instead of regions."),
        ("/v1/filters", "limit", "limit is not a parameter here."),
        ("/v1/filters", "page[size]", "page[size] is not a parameter here."),
    ):
        answer = client.get(path, {wrong: "5"})
        assert (answer.status_code, answer.json()["detail"]) == (400, detail)

    for path in ("/v0.1/vacancies", "/v0.1/vacancies/internal"):
        for wrong in (
            "search",
            "q",
            "order_by",
            "select",
            "sort",
            "fields",
            "filter[regions]",
            "filter[search]",
            *map(filter_name, Fact),
            "filter[near]",
            "brand",
            "country",
            "lang",
            "employmentType",
        ):
            answer = client.get(path, {wrong: "5"})
            problem = {
                "parameter": wrong,
                "detail": f"{wrong} is not a parameter here.",
                "received": "5",
            }
            assert (answer.status_code, answer.json()["errors"]) == (
                400,
                [problem | {"allowed": PAGING}],
            )
