"""django-filter, with errors that state the parameter, the received value
and the allowed values.
"""

import django_filters

from jobsite.api.parameters import invalid_value
from jobsite.api.problems import InvalidParameters


class FilterSet(django_filters.FilterSet):
    """A filter set over the view's parameters.
    The `help_text` of a filter states the allowed values.
    """

    def check(self) -> None:
        """Raise InvalidParameters if a value is blank or not allowed."""
        wrong = {name for name in self.data if name in self.filters and not self.data[name].strip()}
        wrong |= set(self.errors)
        if wrong:
            raise InvalidParameters(
                [
                    invalid_value(name, self.data[name], self.filters[name].extra["help_text"])
                    for name in sorted(wrong)
                ]
            )
