"""Checks of vacancies: lists and versions agree with each other, and single vacancies with the
lists.
"""

from itertools import islice

from jobsite.contract import forms, requests
from jobsite.contract.document import is_id, properties
from jobsite.contract.lists import SIZE, PagedList, expect_problem, vacancy_findings
from jobsite.contract.service import CheckedService

SAMPLE = 3  # vacancies of each list that are compared
# v0.1 -> v1.
SINGLES = {"type": "types", "contract_type": "contract_types", "work_regime": "work_regimes"}


def subsets(service: CheckedService, lists: dict[str, PagedList]) -> None:
    """Check that lists of hot vacancies are subsets of the other lists, and complete."""
    for part, whole in (
        ("/v1/vacancies/hot", "/v1/vacancies"),
        ("/v1/vacancies/hot/internal", "/v1/vacancies/internal"),
    ):
        if lists[part].is_whole and lists[whole].is_whole:
            strange = [id_ for id_ in lists[part].ids if id_ not in set(lists[whole].ids)]
            service.report.expect(not strange, part, f"only vacancies of {whole}", strange[:10])
            if whole == "/v1/vacancies":
                hot = [
                    id_
                    for id_ in lists[whole].ids
                    if lists[whole].items.get(id_, {}).get("is_hot") is True
                ]
                missing = [id_ for id_ in hot if id_ not in set(lists[part].ids)]
                service.report.expect(
                    not missing, part, f"every hot vacancy of {whole}", missing[:10]
                )


def versions(service: CheckedService, public: PagedList, old: PagedList) -> None:
    """Check that v0.1 lists the vacancies of v1, in the same order and with the same values."""
    if public.is_whole and old.is_whole:
        service.report.expect(
            public.ids == old.ids,
            old.path,
            f"the vacancies of {public.path} in the same order",
            f"{old.ids[:5]}... instead of {public.ids[:5]}...",
        )
    repeated = 0
    for id_, item in old.items.items():
        new = public.items.get(id_)
        if (
            new is not None
            and item.get("updated_at") != new.get("updated_at")
            and repeated < SAMPLE
        ):
            repeated += 1  # it may have changed between the two requests
            new = _single(service, id_)
            updated_at = new and new.get("updated_at")
            service.report.expect(
                item.get("updated_at") == updated_at,
                old.path,
                "updated_at as in v1",
                {"id": id_, "updated_at": item.get("updated_at"), "v1": updated_at},
            )
        if new is None or item.get("updated_at") != new.get("updated_at"):
            continue
        for key in properties("VacancyV0_1"):
            if key in SINGLES:
                several = new.get(SINGLES[key])
                wanted = several[0] if isinstance(several, list) and several else None
                service.report.expect(
                    item.get(key) == wanted,
                    old.path,
                    f"{key} to be the first of v1's {SINGLES[key]}",
                    {"id": id_, key: item.get(key), "v1": several},
                )
            else:
                service.report.expect(
                    item.get(key) == new.get(key),
                    old.path,
                    f"{key} as in v1",
                    {"id": id_, key: item.get(key), "v1": new.get(key)},
                )


def _single(service: CheckedService, id_: object) -> dict[str, object] | None:
    """Return the vacancy `id_`; None, with a breach, if the response is not a vacancy."""
    path = "/v1/vacancies/{id}"
    response = service.request(f"/v1/vacancies/{id_}", with_token=True)
    body = response.json()
    is_one = (
        response.status == 200 and isinstance(body, dict) and isinstance(body.get("data"), dict)
    )
    if not service.report.expect(
        is_one, path, "200 with {data: object} for a listed vacancy", f"{response.status} for {id_}"
    ):
        return None
    service.report.expect(list(body) == ["data"], path, "nothing but data", list(body))
    service.report.expect_none(path, vacancy_findings("Vacancy", body["data"]))
    return body["data"]


def singles(service: CheckedService, lists: dict[str, PagedList]) -> None:
    """Check that single vacancies equal their items in the lists."""
    path = "/v1/vacancies/{id}"
    for listing in lists.values():
        sample = list(islice(listing.items.items(), SAMPLE))
        sample += [pair for pair in listing.items.items() if "attachments" in pair[1]][:1]
        for id_, item in dict(sample).items():
            single = _single(service, id_)
            if single is None or single.get("updated_at") != item.get("updated_at"):
                continue
            common = [key for key in item if key not in SINGLES]
            wrong = [key for key in common if single.get(key) != item[key]]
            service.report.expect(
                not wrong, path, f"the item of {listing.path}", {"id": id_, "differs in": wrong}
            )
            if listing.schema == "Vacancy":
                service.report.expect(
                    list(single) == list(item), path, f"the keys of {listing.path}", list(single)
                )
    first = next((id_ for listing in lists.values() for id_ in listing.items), None)
    if first is None:
        service.report.skip(f"{path}: no vacancy is listed.")
    else:
        requests.methods(service, f"/v1/vacancies/{first}")
        for name in (SIZE, "fields", "filter[regions]"):
            response = service.request(f"/v1/vacancies/{first}", {name: "1"}, with_token=True)
            expect_problem(service.report, path, response, 400, f"?{name}=1", parameter=name)


def unknown_ids(service: CheckedService, lists: dict[str, PagedList]) -> None:
    """Check that unknown and malformed ids return the same 404."""
    answers = {}
    for text in (_free_id(lists), "0", "007", "abc", "-1", "1.0", "%C2%B2", "9" * 19, "9" * 30):
        response = service.request(f"/v1/vacancies/{text}", with_token=True)
        if expect_problem(service.report, "/v1/vacancies/{id}", response, 404, f"id {text}"):
            answers[text] = {
                key: value for key, value in response.json().items() if key != "instance"
            }
    kinds = {str(body) for body in answers.values()}
    service.report.expect(
        len(kinds) <= 1, "/v1/vacancies/{id}", "one and the same 404 for all ids", sorted(kinds)
    )


def _free_id(lists: dict[str, PagedList]) -> str:
    """Return an id that no listed vacancy has."""
    known = [id_ for listing in lists.values() for id_ in listing.ids]
    return str(max((id_ for id_ in known if is_id(id_)), default=0) + 987_654_321)


def application_forms(service: CheckedService, lists: dict[str, PagedList]) -> None:
    """Check the forms of listed vacancies."""
    ids = list(dict.fromkeys(id_ for listing in lists.values() for id_ in listing.items))
    if not ids:
        service.report.skip(f"{forms.PATH}: no vacancy is listed.")
        return
    has_schemas = forms.check(service, forms.spread(ids))
    for suffix in ("/form", "/form/schema") if has_schemas else ("/form",):
        requests.methods(service, f"/v1/vacancies/{ids[0]}{suffix}")
    forms.edges(service, ids[0], (_free_id(lists), "0", "abc"))
