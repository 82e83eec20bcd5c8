from collections.abc import Callable
from functools import partial

from jobsite.contract.feed import check_feed
from jobsite.contract.lists import NUMBER, SAMPLE, SIZE, PagedList
from jobsite.contract.service import CheckedService
from jobsite.types import JsonObject

PUBLIC, HOT, OLD = "/v1/vacancies", "/v1/vacancies/hot", "/v0.1/vacancies"
LISTS = (PUBLIC, HOT, f"{PUBLIC}/internal", f"{HOT}/internal", OLD, f"{OLD}/internal")
VACANCY, FILTERS, APPLICATIONS = "/v1/vacancies/{id}", "/v1/filters", "/v1/user/applications"


def steps(service: CheckedService, max_pages: int) -> dict[str, Callable[[], object]]:
    """Return the checks of a service by name, in the order to run them."""
    lists = {path: PagedList(service, path, max_pages) for path in LISTS}
    found: dict[str, Callable[[], object]] = {}
    for path, listing in lists.items():
        found[path] = listing.walk
        found[f"{path} edges"] = listing.edges
        found[f"{path} requests"] = partial(requests, service, path, listing)
    for path in (PUBLIC, f"{PUBLIC}/internal"):
        found[f"{path}/changes"] = partial(check_feed, service, lists[path])
    found["vacancies"] = partial(vacancies, service, lists)
    found["applications"] = partial(applications, service)
    found[f"{FILTERS} requests"] = partial(requests, service, FILTERS)
    found[FILTERS] = partial(filters, service, lists[PUBLIC])
    return found


def requests(service: CheckedService, path: str, listing: PagedList | None = None) -> None:
    """Check requests that are refused, HEAD, and conditional requests."""
    if listing and listing.is_closed:
        return
    for name in (SIZE, NUMBER, "page[limit]", "filter[nope]") if listing else (SIZE,):
        service.get(path, {name: "nope"}, 400, f"?{name}=nope")
    service.get(path, "", 405, "POST", method="POST")
    service.get(path, "", 406, "Accept: text/html", headers={"Accept": "text/html"})
    got, head = service.request(path), service.request(path, method="HEAD")
    for name in ("Content-Type", "ETag", "Cache-Control"):
        values = head.headers.get(name), got.headers.get(name)
        service.expect(values[0] == values[1], path, f"HEAD to have the {name} of GET", values)
    caching, etag = got.headers.get("Cache-Control", ""), got.headers.get("ETag", "")
    if "no-store" in caching:
        return
    service.expect("max-age=" in caching, path, "Cache-Control with max-age", caching)
    service.expect(etag, path, "an ETag", "none")
    for tags, status, cause in (
        (etag, 304, "the current tag"),
        (f'"x", {etag.removeprefix("W/")}', 304, "a list of tags, compared weakly"),
        ('"some-other-tag"', 200, "another tag"),
    ):
        answer = service.request(path, headers={"If-None-Match": tags})
        # If the tag has changed, so has the response.
        holds = answer.status == status or answer.headers.get("ETag") != etag
        service.expect(holds, path, f"{status} for If-None-Match with {cause}", answer.status)


def vacancies(service: CheckedService, lists: dict[str, PagedList]) -> None:
    """Check that the lists and the single vacancies agree, and check the forms."""
    public, hot = lists[PUBLIC], lists[HOT]
    if public.is_whole and hot.is_whole:
        wanted, found = [pair for pair in public.hot.items() if pair[1]], [*hot.hot.items()]
        hot.expect(found == wanted, f"the hot vacancies of {PUBLIC}, in its order", found)

    optional = ("", "/form", "/form/schema")
    suffixes = [suffix for suffix in optional if VACANCY + suffix in service.document.paths]
    sample = [(listing, item) for listing in lists.values() for item in listing.sample]
    for listing, item in sample:
        bodies = [service.get(f"{PUBLIC}/{item['id']}{suffix}") for suffix in suffixes]
        single = bodies[0]["data"] if bodies[0] else item
        differs = [key for key in item if key in single and single[key] != item[key]]
        is_same = not differs or single["updated_at"] != item["updated_at"]
        service.expect(is_same, VACANCY, f"the item of {listing.path}", differs)
    if not sample:
        service.report.skipped.append(f"{VACANCY}: no vacancy is listed.")
    for suffix in suffixes:
        for _, item in sample[:1]:
            requests(service, f"{PUBLIC}/{item['id']}{suffix}")
        for unknown in ("0", "abc", "987654321987654321"):
            service.get(f"{PUBLIC}/{unknown}{suffix}", "", 404, f"id {unknown}")


def applications(service: CheckedService) -> None:
    headers = {"Authorization": "Bearer 0123456789abcdef"}
    service.get(APPLICATIONS, "", 401, "an unknown token", headers=headers)
    if service.token:
        service.get(APPLICATIONS, "", 200, "the token")


def filters(service: CheckedService, public: PagedList) -> None:
    """Check that options find as many vacancies as they say, alone and with another filter."""
    offered = _filters(service, {})
    if not offered:
        service.report.skipped.append(f"{FILTERS}: no filter is in use.")
        return
    for name, filter_ in offered.items():
        for option in filter_["options"][:SAMPLE]:
            _expect_count(public, {name: option["value"]}, option, f"the count of {name}")
    first, filter_ = next(iter(offered.items()))
    nothing = public.total({first: "no-such-value"})
    public.expect(not nothing, f"nothing for an unknown value of {first}", nothing)
    chosen = {first: filter_["options"][0]["value"]}
    for name, filter_ in _filters(service, chosen).items():
        option = filter_["options"][0]
        # A filter does not limit its own options: they are alternatives.
        what = f"the count of {name} under {first}"
        _expect_count(public, chosen | {name: option["value"]}, option, what)


def _filters(service: CheckedService, query: dict[str, str]) -> dict[str, JsonObject]:
    body = service.get(FILTERS, query) or {"data": ()}
    return {f"filter[{each['keyword']}]": each for each in body["data"] if each}


def _expect_count(public: PagedList, query: dict[str, str], option: JsonObject, what: str) -> None:
    total = public.total(query)
    holds = total in (None, option["count"])
    received = f"{option['count']} for {option['value']}, the list has {total}"
    public.service.expect(holds, FILTERS, f"{what} to be the total of the list", received)
