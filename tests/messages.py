"""Messages for users of the admin, without the page that shows them."""

from typing import Any

from django.contrib.messages import get_messages


def messages_of(response: Any) -> list[str]:
    """Return the texts that wait for the next page after `response`, or that its own page shows.
    Texts of earlier requests come first, if no page has shown them. Requests need no `follow=True`:
    to render the page after a redirect often costs more than the request itself.
    """
    return [str(message) for message in get_messages(response.wsgi_request)]
