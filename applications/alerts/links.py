"""The links in the emails of an alert."""

from urllib.parse import parse_qs, urlencode

from django.urls import reverse

from applications.alerts.queries import BRAND
from applications.mail.links import absolute, new_marker
from applications.models import JobAlert
from jobsite.api.absolute_urls import host_url, with_query
from jobsite.languages import site_language
from vacancies.filtersets import SEARCH, SORT
from vacancies.models import Vacancy


class Links:
    """The links of `alert`, in its language, on the career site of its brand. The marker stands for
    the token.
    """

    def __init__(self, alert: JobAlert, base_url: str = "", marker: str = "") -> None:
        self.alert = alert
        self.marker = marker or new_marker()
        self.base_url = host_url(alert.brand.host if alert.brand else "") or base_url
        self._language = {} if alert.language == site_language() else {"language": alert.language}

    def _to(self, name: str, **kwargs: str) -> str:
        return absolute(reverse(f"site:{name}", kwargs={**self._language, **kwargs}), self.base_url)

    def to_confirm(self) -> str:
        return self._to("alert-confirm", token=self.marker)

    def to_page(self) -> str:
        return self._to("alert", token=self.marker)

    def to_unsubscribe(self) -> str:
        return self._to("alert-unsubscribe", token=self.marker)

    def to_list(self) -> str:
        """Return the link to the list that it tells of, the newest vacancies first also after a
        search.
        """
        query, brand = self.alert.query, self.alert.brand
        if SEARCH in parse_qs(query):
            query += f"&{urlencode({SORT: '-published_at'})}"
        if brand and not brand.host:
            query = "&".join(filter(None, (urlencode({BRAND: brand.slug}), query)))
        return self._to("jobs") + (f"?{query}" if query else "")

    def to_vacancy(self, vacancy: Vacancy) -> str:
        """Return the link to `vacancy`, which says where the applicant comes from."""
        url = vacancy.url_in(self.alert.language)
        address = absolute(url, self.base_url) if url.startswith("/") else url
        return with_query(address, source="alert")
