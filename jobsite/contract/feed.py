from urllib.parse import urlsplit

from jobsite.contract.lists import PagedList
from jobsite.contract.service import CheckedService, query_string
from jobsite.types import JsonObject

PAGE = 100


def check_feed(service: CheckedService, listing: PagedList) -> None:
    """Read the feed of a list twice. Check that a copy equals the list, and requests that are
    refused. Older services have no feed.
    """
    path = f"{listing.path}/changes"
    if path not in service.document.paths or listing.is_closed:
        return
    for query in ({"since": "nope"}, {"page[number]": "1"}, {"filter[brand]": "no-such-brand"}):
        service.get(path, query, 400, f"?{query_string(query)}")
    first, second = (_walk(service, path, listing.max_pages) for _ in range(2))
    if first is None or second is None:
        return
    if first != second or not listing.is_whole or listing.total({}) != len(listing.hot):
        service.report.notes.append(f"{path}: the list changed, or was not read to its end.")
        return
    wrong = sorted(first.keys() ^ listing.hot.keys())
    service.expect(not wrong, path, f"the vacancies of {listing.path}", wrong)
    differs = [item["id"] for item in listing.sample if first.get(item["id"], item) != item]
    service.expect(not differs, path, f"the items of {listing.path}", differs)


def _walk(service: CheckedService, path: str, max_pages: int) -> dict[int, JsonObject] | None:
    """Return what a client has that reads the feed from its beginning and polls it once, or None
    if a response is no page or the feed does not end.
    """
    found: dict[int, JsonObject] = {}
    query = query_string({"page[size]": PAGE})
    for _ in range(max_pages):
        if not (body := service.get(path, query)):
            return None
        for change in body["data"]:
            if change.get("change") == "upsert":
                found[change["id"]] = change.get("vacancy", {})
            else:
                found.pop(change.get("id"), None)
        following = urlsplit(body["links"]["next"]).query
        is_end = not body["meta"]["more"]
        if is_end and not body["data"]:
            holds = following == query or "since" not in query
            service.expect(holds, path, "the same links.next if nothing changed", following)
            return found
        query = following
    return None
