"""The promises of the interface, endpoint by endpoint."""

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from jobsite.contract import applications, forms, shapes
from jobsite.contract.lists import NUMBER, SIZE, ListedVacancy, expect_problem
from jobsite.contract.service import Service

BAD_NUMBERS = ("abc", "0", "-1", "1.5", "1e3", "01", "+1", "1_0", "²", "", "1234567890")
SAMPLE = 3  # vacancies, filters and options looked at closely

Step = tuple[str, Callable[[], None]]


def steps(service: Service, max_pages: int) -> list[Step]:
    """The check of a whole service as named steps, to be taken in order."""
    lists = {
        listing.path: listing
        for listing in (
            ListedVacancy(service, "/v1/vacancies", shapes.VACANCY, max_pages=max_pages),
            ListedVacancy(service, "/v1/vacancies/hot", shapes.VACANCY, max_pages=max_pages, is_hot=True),
            ListedVacancy(
                service, "/v1/vacancies/internal", shapes.VACANCY, max_pages=max_pages, is_internal=True
            ),
            ListedVacancy(
                service,
                "/v1/vacancies/hot/internal",
                shapes.VACANCY,
                max_pages=max_pages,
                is_hot=True,
                is_internal=True,
            ),
            ListedVacancy(service, "/v0.1/vacancies", shapes.VACANCY_V0_1, max_pages=max_pages),
            ListedVacancy(
                service,
                "/v0.1/vacancies/internal",
                shapes.VACANCY_V0_1,
                max_pages=max_pages,
                is_internal=True,
            ),
        )
    }
    public, old = lists["/v1/vacancies"], lists["/v0.1/vacancies"]
    taken: list[Step] = []
    for path, listing in lists.items():
        taken.append((path, listing.walk))
        taken.append((f"{path} edges", listing.edges))
        taken.append((f"{path} refusals", partial(refusals, service, listing, is_thorough=listing is public)))
        taken.append((f"{path} methods", partial(methods, service, path, listing)))
    taken += [
        ("lists among each other", partial(agreement, service, lists)),
        ("v0.1 and v1", partial(versions, service, public, old)),
        (
            "internal v0.1 and v1",
            partial(versions, service, lists["/v1/vacancies/internal"], lists["/v0.1/vacancies/internal"]),
        ),
        ("single vacancies", partial(singles, service, lists)),
        ("unknown vacancies", partial(unknown, service, lists)),
        ("forms", partial(application_forms, service, lists)),
        ("my applications", partial(applications.check, service)),
        ("/v1/filters", partial(filters, service, public)),
        ("sort", partial(sorting, service, public)),
        ("fields", partial(fewer_keys, service, public)),
        ("list parameters", partial(list_parameters, service, public)),
        ("search", partial(search, service, public)),
        ("paths", partial(paths, service)),
    ]
    return taken


def refusals(service: Service, listing: ListedVacancy, *, is_thorough: bool) -> None:
    """Parameters that have to be refused, and those that have to be ignored."""
    if listing.is_closed:
        return
    values = BAD_NUMBERS if is_thorough else BAD_NUMBERS[:2]
    queries: list[tuple[str, list[tuple[str, str]]]] = [
        (name, [(name, value)]) for name in (SIZE, NUMBER) for value in values
    ]
    queries += [
        (SIZE, [(SIZE, "1"), (SIZE, "2")]),
        (NUMBER, [(NUMBER, "1"), (NUMBER, "1")]),
        ("page[limit]", [("page[limit]", "5")]),
        ("page", [("page", "1")]),
        ("limit", [("limit", "5")]),
        ("q", [("q", "x")]),
        ("filter[nope]", [("filter[nope]", "x")]),
        ("sort", [("sort", "nope")]),
        ("fields", [("fields", "id,nope")]),
    ]
    for name, query in queries:
        answer = listing.ask(query)
        expect_problem(service.report, listing.path, answer, 400, f"?{_plain(query)}", parameter=name)
    answer = listing.ask({"utm_source": "x", SIZE: 1})
    if service.report.expect(answer.status == 200, listing.path, "200 for ?utm_source=x", answer.status):
        body = answer.json()
        links = str(body.get("links") if isinstance(body, dict) else body)
        service.report.expect("utm_source" not in links, listing.path, "no utm_source in links", links)


def _plain(query: list[tuple[str, str]]) -> str:
    return "&".join(f"{name}={value}" for name, value in query)


def methods(service: Service, path: str, listing: ListedVacancy | None = None) -> None:
    """HEAD, OPTIONS, other methods, conditional requests and representations of a path that there is."""
    if listing is not None and listing.is_closed:
        return
    report = service.report
    with_token = listing is not None and listing.is_internal
    ask = partial(service.ask, path, with_token=with_token)
    got, head = ask(), ask(method="HEAD")
    report.expect(head.status == got.status, path, f"HEAD to answer as GET does ({got.status})", head.status)
    report.expect(head.body == b"", path, "no body for HEAD", head.body[:50].decode("latin-1"))
    for name in ("Content-Type", "ETag", "Cache-Control"):
        report.expect(
            head.headers.get(name) == got.headers.get(name),
            path,
            f"HEAD to have the {name} of GET",
            f"{head.headers.get(name)} instead of {got.headers.get(name)}",
        )

    options = ask(method="OPTIONS")
    allowed = {method.strip() for method in options.headers.get("Allow", "").split(",")}
    report.expect(200 <= options.status < 300, path, "2xx for OPTIONS", options.status)
    report.expect(
        {"GET", "HEAD", "OPTIONS"} <= allowed, path, "OPTIONS to allow GET, HEAD and OPTIONS", sorted(allowed)
    )
    for method in ("POST", "DELETE"):
        refused = ask(method=method)
        expect_problem(report, path, refused, 405, method)
        report.expect(
            "GET" in refused.headers.get("Allow", ""), path, f"405 for {method} with Allow: GET", "none"
        )

    html = ask(headers={"Accept": "text/html"})
    expect_problem(report, path, html, 406, "Accept: text/html")
    anything = ask(headers={"Accept": "*/*"})
    report.expect(anything.status == 200, path, "200 for Accept: */*", anything.status)

    if "no-store" in got.headers.get("Cache-Control", ""):
        return
    etag = got.headers.get("ETag", "")
    report.expect(
        "max-age=" in got.headers.get("Cache-Control", ""),
        path,
        "Cache-Control with max-age",
        got.headers.get("Cache-Control"),
    )
    if report.expect(etag, path, "an ETag", "none"):
        same = ask(headers={"If-None-Match": etag})
        # A tag that changed meanwhile is an answer that changed.
        if same.headers.get("ETag") == etag:
            report.expect(same.status == 304, path, "304 for If-None-Match with the current tag", same.status)
            report.expect(same.body == b"", path, "no body with 304", same.body[:50].decode("latin-1"))
            weak = ask(headers={"If-None-Match": f'"x", {etag.removeprefix("W/")}'})
            if weak.headers.get("ETag") == etag:
                report.expect(
                    weak.status == 304, path, "304 for a list of tags, compared weakly", weak.status
                )
        other = ask(headers={"If-None-Match": '"some-other-tag"'})
        report.expect(other.status == 200, path, "200 for If-None-Match with another tag", other.status)


def agreement(service: Service, lists: dict[str, ListedVacancy]) -> None:
    """What one list holds, another has to hold too."""
    for part, whole in (
        ("/v1/vacancies/hot", "/v1/vacancies"),
        ("/v1/vacancies/hot/internal", "/v1/vacancies/internal"),
    ):
        if lists[part].is_whole and lists[whole].is_whole:
            strange = [id_ for id_ in lists[part].ids if id_ not in set(lists[whole].ids)]
            service.report.expect(not strange, part, f"only vacancies of {whole}", strange[:10])
            if whole == "/v1/vacancies":
                hot = [
                    id_ for id_ in lists[whole].ids if lists[whole].items.get(id_, {}).get("is_hot") is True
                ]
                missing = [id_ for id_ in hot if id_ not in set(lists[part].ids)]
                service.report.expect(not missing, part, f"every hot vacancy of {whole}", missing[:10])


def versions(service: Service, public: ListedVacancy, old: ListedVacancy) -> None:
    """v0.1 lists the same vacancies as v1, in the same order, with the same values."""
    if public.is_whole and old.is_whole:
        service.report.expect(
            public.ids == old.ids,
            old.path,
            f"the vacancies of {public.path} in the same order",
            f"{old.ids[:5]}... instead of {public.ids[:5]}...",
        )
    asked_again = 0
    for id_, item in old.items.items():
        new = public.items.get(id_)
        if new is not None and item.get("updated_at") != new.get("updated_at") and asked_again < SAMPLE:
            asked_again += 1  # it may have been saved between the two lists
            new = _single(service, id_)
            moment = new and new.get("updated_at")
            service.report.expect(
                item.get("updated_at") == moment,
                old.path,
                "updated_at as in v1",
                {"id": id_, "updated_at": item.get("updated_at"), "v1": moment},
            )
        if new is None or item.get("updated_at") != new.get("updated_at"):
            continue
        for key in shapes.VACANCY_V0_1:
            if key in shapes.SINGLES:
                several = new.get(shapes.SINGLES[key])
                wanted = several[0] if isinstance(several, list) and several else None
                service.report.expect(
                    item.get(key) == wanted,
                    old.path,
                    f"{key} to be the first of v1's {shapes.SINGLES[key]}",
                    {"id": id_, key: item.get(key), "v1": several},
                )
            else:
                service.report.expect(
                    item.get(key) == new.get(key),
                    old.path,
                    f"{key} as in v1",
                    {"id": id_, key: item.get(key), "v1": new.get(key)},
                )


def _single(service: Service, id_: Any) -> dict[str, Any] | None:
    """The vacancy by its id, None (and a breach) when it does not come as one."""
    path = "/v1/vacancies/{id}"
    answer = service.ask(f"/v1/vacancies/{id_}", with_token=True)
    body = answer.json()
    is_one = answer.status == 200 and isinstance(body, dict) and isinstance(body.get("data"), dict)
    if not service.report.expect(
        is_one, path, "200 with {data: object} for a listed vacancy", f"{answer.status} for {id_}"
    ):
        return None
    service.report.expect(list(body) == ["data"], path, "nothing but data", list(body))
    for expected, received in shapes.vacancy(body["data"], shapes.VACANCY):
        service.report.expect(False, path, expected, received)
    return body["data"]


def singles(service: Service, lists: dict[str, ListedVacancy]) -> None:
    """A vacancy by its id is what its list shows."""
    path = "/v1/vacancies/{id}"
    for listing in lists.values():
        sample = list(islice(listing.items.items(), SAMPLE))
        sample += [pair for pair in listing.items.items() if "attachments" in pair[1]][:1]
        for id_, item in dict(sample).items():
            single = _single(service, id_)
            if single is None or single.get("updated_at") != item.get("updated_at"):
                continue
            common = [key for key in item if key not in shapes.SINGLES]
            wrong = [key for key in common if single.get(key) != item[key]]
            service.report.expect(
                not wrong, path, f"the item of {listing.path}", {"id": id_, "differs in": wrong}
            )
            if listing.keys is shapes.VACANCY:
                service.report.expect(
                    list(single) == list(item), path, f"the keys of {listing.path}", list(single)
                )
    first = next((id_ for listing in lists.values() for id_ in listing.items), None)
    if first is None:
        service.report.skip(f"{path}: no vacancy is listed.")
    else:
        methods(service, f"/v1/vacancies/{first}")
        for name in (SIZE, "fields", "filter[regions]"):
            answer = service.ask(f"/v1/vacancies/{first}", {name: "1"}, with_token=True)
            expect_problem(service.report, path, answer, 400, f"?{name}=1", parameter=name)


def unknown(service: Service, lists: dict[str, ListedVacancy]) -> None:
    """Ids that no vacancy has, and texts that are no id, are one and the same 404."""
    answers = {}
    for text in (_free_id(lists), "0", "007", "abc", "-1", "1.0", "%C2%B2", "9" * 19, "9" * 30):
        answer = service.ask(f"/v1/vacancies/{text}", with_token=True)
        if expect_problem(service.report, "/v1/vacancies/{id}", answer, 404, f"id {text}"):
            answers[text] = {key: value for key, value in answer.json().items() if key != "instance"}
    kinds = {str(body) for body in answers.values()}
    service.report.expect(
        len(kinds) <= 1, "/v1/vacancies/{id}", "one and the same 404 for all ids", sorted(kinds)
    )


def _free_id(lists: dict[str, ListedVacancy]) -> str:
    """An id that no vacancy has."""
    known = [id_ for listing in lists.values() for id_ in listing.ids]
    return str(max((id_ for id_ in known if shapes.is_id(id_)), default=0) + 987_654_321)


def application_forms(service: Service, lists: dict[str, ListedVacancy]) -> None:
    """The forms of the vacancies that are listed."""
    ids = list(dict.fromkeys(id_ for listing in lists.values() for id_ in listing.items))
    if not ids:
        service.report.skip(f"{forms.PATH}: no vacancy is listed.")
        return
    has_schemas = forms.check(service, forms.spread(ids))
    for suffix in ("/form", "/form/schema") if has_schemas else ("/form",):
        methods(service, f"/v1/vacancies/{ids[0]}{suffix}")
    forms.edges(service, ids[0], (_free_id(lists), "0", "abc"))


def _filters(service: Service, query: dict[str, str]) -> list[dict[str, Any]]:
    path, report = "/v1/filters", service.report
    answer = service.ask(path, query)
    body = answer.json()
    is_list = answer.status == 200 and isinstance(body, dict) and isinstance(body.get("data"), list)
    if not report.expect(is_list, path, "200 with {data: list}", f"{answer.status} {answer.media_type}"):
        return []
    report.expect(list(body) == ["data"], path, "nothing but data", list(body))
    well_formed = []
    for filter_ in body["data"]:
        findings = list(shapes.shape(filter_, shapes.FILTER, "filter"))
        for expected, received in findings:
            report.expect(False, path, expected, received)
        if not findings:
            well_formed.append(filter_)
            if filter_["keyword"] not in shapes.KEYWORDS:  # an open list
                report.note(f"{path}: the keyword {filter_['keyword']!r} is newer than this command.")
            values = [option["value"] for option in filter_["options"]]
            report.expect(len(set(values)) == len(values), path, "each option once", values)
    keywords = [filter_["keyword"] for filter_ in well_formed]
    report.expect(len(set(keywords)) == len(keywords), path, "each keyword once", keywords)
    return well_formed


def filters(service: Service, public: ListedVacancy) -> None:
    """Filters offer what there is: a count is the total of the list under it, also under other filters."""
    path, report = "/v1/filters", service.report
    methods(service, path)
    for name in (SIZE, "filter[nope]", "sort", "fields"):
        answer = service.ask(path, {name: "1"})
        expect_problem(report, path, answer, 400, f"?{name}=1", parameter=name)
    offered = _filters(service, {})
    if not offered:
        report.skip(f"{path}: no filter is in use.")
        return
    for filter_ in offered:
        name, options = f"filter[{filter_['keyword']}]", filter_["options"]
        for option in [*options[:SAMPLE], options[-1]]:
            query = {name: option["value"]}
            body = public.page(query, size=SAMPLE)
            if body is None:
                continue
            total = body["meta"]["total"]
            report.expect(
                total == option["count"],
                path,
                f"the count of {name} to be the total of the list",
                f"{option['count']} for {option['value']}, the list has {total}",
            )
            for item in body["data"]:
                labels = item.get(filter_["keyword"])
                has = option["label"] in (labels if isinstance(labels, list) else [labels])
                report.expect(has, public.path, f"{name} to list vacancies with the option", labels)
        if len(options) > 1:
            a, b = options[0], options[1]
            body = public.page({name: f"{a['value']},{b['value']}"}, size=1)
            if body is not None:
                total = body["meta"]["total"]
                low, high = max(a["count"], b["count"]), a["count"] + b["count"]
                report.expect(
                    low <= total <= high,
                    public.path,
                    f"{name}=a,b to be any of both ({low} to {high})",
                    total,
                )

    first = offered[0]
    name, value = f"filter[{first['keyword']}]", first["options"][0]["value"]
    report.expect(
        public.total({name: "no-such-value"}) == 0,
        public.path,
        f"nothing for an unknown value of {name}",
        "items",
    )
    for filter_ in _filters(service, {name: value})[: SAMPLE + 1]:
        other, option = f"filter[{filter_['keyword']}]", filter_["options"][0]
        # A filter's own choice does not narrow its own options: they are alternatives to it.
        query = {other: option["value"]} if other == name else {name: value, other: option["value"]}
        total = public.total(query)
        report.expect(
            total is None or total == option["count"],
            path,
            f"the count of {other} under {name} to be the total",
            f"{option['count']} for {option['value']}, the list has {total}",
        )


def sorting(service: Service, public: ListedVacancy) -> None:
    """Each order holds the same vacancies, and is that order."""
    report, path = service.report, public.path
    orders: dict[str, list[Any]] = {}
    for key in ("published_at", "-published_at", "title", "-title"):
        if public.page({"sort": key}, size=1) is None:
            return
        if public.is_whole and len(public.ids) <= 2000:
            walked = ListedVacancy(service, path, shapes.VACANCY, max_pages=20)
            walked.walk(query={"sort": key, "fields": "id,title"}, is_sparse=True)
            orders[key] = list(walked.titles.items())
    if not orders:
        report.skip(f"{path}: sort orders of a list that was not read to its end.")
        return
    ids = {key: [id_ for id_, _ in order] for key, order in orders.items()}
    for key in ids:
        report.expect(
            sorted(ids[key]) == sorted(public.ids),
            path,
            f"sort={key} to hold the same vacancies",
            ids[key][:10],
        )
    report.expect(
        ids["-published_at"] == public.ids,
        path,
        "sort=-published_at to be the usual order",
        ids["-published_at"][:10],
    )
    report.expect(
        ids["published_at"] == public.ids[::-1],
        path,
        "sort=published_at to turn it round",
        ids["published_at"][:10],
    )
    for key in ("title", "-title"):
        # How letters beyond ASCII sort is not promised; the others sort without regard to case.
        titles = [" ".join(title.casefold().split()) for _, title in orders[key] if title.isascii()]
        report.expect(
            titles == sorted(titles, reverse=key == "-title"), path, f"sort={key} to be that order", titles
        )


def fewer_keys(service: Service, public: ListedVacancy) -> None:
    """`fields` cuts items to the keys asked for; they stay what they are."""
    for asked, kept in (("id,title,slug", ["id", "title", "slug"]), ("slug,id", ["id", "slug"])):
        body = public.page({"fields": asked}, size=SAMPLE)
        for item in (body or {}).get("data", []):
            service.report.expect(
                list(item) == kept, public.path, f"fields={asked} to leave {', '.join(kept)}", list(item)
            )
            whole = public.items.get(item.get("id"), item)
            same = all(item.get(key) == whole.get(key) for key in kept)
            service.report.expect(same, public.path, f"fields={asked} to change no value", item)


def list_parameters(service: Service, public: ListedVacancy) -> None:
    """A list that is repeated, or whose name ends with [], is the comma list."""
    for name, values in (("fields", ("id", "title")), ("filter[regions]", ("antwerp", "ghent"))):
        comma = public.ask([(name, ",".join(values)), (SIZE, "1")]).json()
        for sent in (name, f"{name}[]"):
            repeated = public.ask([*((sent, value) for value in values), (SIZE, "1")]).json()
            service.report.expect(
                comma is not None and repeated == comma,
                public.path,
                f"{sent} given twice to be the comma list of {name}",
                repeated,
            )


def search(service: Service, public: ListedVacancy) -> None:
    """A vacancy is found by the words of its title."""
    for id_, item in islice(public.items.items(), SAMPLE):
        title = item.get("title")
        if not isinstance(title, str) or len(title) > 200 or not 1 <= len(title.split()) <= 20:
            continue
        body = public.page({"filter[search]": title}, size=100)
        if body and body["meta"]["total"] <= 100:
            found = [hit.get("id") for hit in body["data"]]
            service.report.expect(
                id_ in found, public.path, f"filter[search] to find a title ({title!r})", found
            )
    for text in ("", " ", "x" * 201):
        answer = service.ask(public.path, {"filter[search]": text})
        expect_problem(
            service.report,
            public.path,
            answer,
            400,
            f"a search for {text[:5]!r} of {len(text)} characters",
            parameter="filter[search]",
        )


def paths(service: Service) -> None:
    """Below the prefixes of the interface there is JSON, whatever the path."""
    for path in ("/v1/nothing-here", "/v0.1/nothing-here", "/v1/vacancies/", "/v1/"):
        expect_problem(service.report, path, service.ask(path), 404, "no such path")
