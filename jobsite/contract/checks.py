"""The checks of a service, in order."""

from collections.abc import Callable
from functools import partial

from jobsite.contract import applications, filters, queries, requests, vacancies
from jobsite.contract.lists import PagedList
from jobsite.contract.service import CheckedService

Step = tuple[str, Callable[[], None]]


def steps(service: CheckedService, max_pages: int) -> list[Step]:
    """Return the checks of a service as named steps, to be run in order."""
    lists = {
        listing.path: listing
        for listing in (
            PagedList(service, "/v1/vacancies", "Vacancy", max_pages=max_pages),
            PagedList(service, "/v1/vacancies/hot", "Vacancy", max_pages=max_pages, is_hot=True),
            PagedList(
                service, "/v1/vacancies/internal", "Vacancy", max_pages=max_pages, is_internal=True
            ),
            PagedList(
                service,
                "/v1/vacancies/hot/internal",
                "Vacancy",
                max_pages=max_pages,
                is_hot=True,
                is_internal=True,
            ),
            PagedList(service, "/v0.1/vacancies", "VacancyV0_1", max_pages=max_pages),
            PagedList(
                service,
                "/v0.1/vacancies/internal",
                "VacancyV0_1",
                max_pages=max_pages,
                is_internal=True,
            ),
        )
    }
    public, old = lists["/v1/vacancies"], lists["/v0.1/vacancies"]
    found: list[Step] = []
    for path, listing in lists.items():
        found.append((path, listing.walk))
        found.append((f"{path} edges", listing.edges))
        invalid = partial(
            requests.invalid_parameters, service, listing, is_thorough=listing is public
        )
        found.append((f"{path} invalid parameters", invalid))
        found.append((f"{path} methods", partial(requests.methods, service, path, listing)))
    found += [
        ("subsets of lists", partial(vacancies.subsets, service, lists)),
        ("v0.1 and v1", partial(vacancies.versions, service, public, old)),
        (
            "internal v0.1 and v1",
            partial(
                vacancies.versions,
                service,
                lists["/v1/vacancies/internal"],
                lists["/v0.1/vacancies/internal"],
            ),
        ),
        ("single vacancies", partial(vacancies.singles, service, lists)),
        ("unknown vacancies", partial(vacancies.unknown_ids, service, lists)),
        ("forms", partial(vacancies.application_forms, service, lists)),
        ("my applications", partial(applications.check, service)),
        ("/v1/filters", partial(filters.check, service, public)),
        ("sort", partial(queries.sorting, service, public)),
        ("fields", partial(queries.fields, service, public)),
        ("list parameters", partial(queries.list_parameters, service, public)),
        ("search", partial(queries.search, service, public)),
        ("near", partial(queries.near, service, public)),
        ("paths", partial(requests.unknown_paths, service)),
    ]
    return found
