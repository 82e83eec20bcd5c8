"""Checks of /v1/filters: its shape, and its counts."""

from jobsite.contract import requests
from jobsite.contract.document import findings, properties
from jobsite.contract.lists import SIZE, PagedList, expect_problem
from jobsite.contract.service import CheckedService
from jobsite.types import JsonObject

SAMPLE = 3  # filters and options that are compared with lists


def _filters(service: CheckedService, query: dict[str, str]) -> list[JsonObject]:
    path, report = "/v1/filters", service.report
    known = properties("Filter")["keyword"]["x-extensible-enum"]
    well_formed = []
    for filter_ in service.expect_list(path, service.request(path, query)) or ():
        if report.expect_none(path, findings("Filter", filter_, "filter")):
            well_formed.append(filter_)
            if filter_["keyword"] not in known:
                report.note(
                    f"{path}: the keyword {filter_['keyword']!r} is newer than this command."
                )
            values = [option["value"] for option in filter_["options"]]
            report.expect(len(set(values)) == len(values), path, "each option once", values)
    keywords = [filter_["keyword"] for filter_ in well_formed]
    report.expect(len(set(keywords)) == len(keywords), path, "each keyword once", keywords)
    return well_formed


def _has(item: JsonObject, keyword: str, option: JsonObject) -> bool:
    """Whether a vacancy has the option.
    Vocabularies and brands show labels, the other facts values.
    """
    match keyword:
        case "brand":
            return item.get("brand", {}).get("name") == option["label"]
        case "country":
            countries = {place["country"] for place in item["places"]} | {*item["remote_countries"]}
            return option["value"] in countries
        case "work_place" | "employment_types" | "language":
            found, sought = item[keyword], option["value"]
        case _:
            found, sought = item.get(keyword), option["label"]
    return sought in (found if isinstance(found, list) else [found])


def check(service: CheckedService, public: PagedList) -> None:
    """Check that the count of each option is the total of the filtered list, also with another
    filter.
    """
    path, report = "/v1/filters", service.report
    requests.methods(service, path)
    for name in (SIZE, "filter[nope]", "sort", "fields"):
        response = service.request(path, {name: "1"})
        expect_problem(report, path, response, 400, f"?{name}=1", parameter=name)
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
                if not any(findings("Vacancy", item, "item")):  # else the list is a breach already
                    has = _has(item, filter_["keyword"], option)
                    report.expect(
                        has, public.path, f"{name} to list vacancies with the option", item["id"]
                    )
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
    offered = _filters(service, {name: value})
    # Vocabularies, and facts.
    for filter_ in [*offered[: SAMPLE + 1], *offered[SAMPLE + 1 :][-SAMPLE:]]:
        other, option = f"filter[{filter_['keyword']}]", filter_["options"][0]
        # A filter does not limit its own options: they are alternatives.
        query = {other: option["value"]} if other == name else {name: value, other: option["value"]}
        total = public.total(query)
        report.expect(
            total is None or total == option["count"],
            path,
            f"the count of {other} under {name} to be the total",
            f"{option['count']} for {option['value']}, the list has {total}",
        )
