"""The address of the client, and the key for rate limits."""

from django.test import RequestFactory

from jobsite.api import client_address, throttling


def make_request(address: str, forwarded: str | None = None):
    headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
    return RequestFactory().get("/", headers=headers, REMOTE_ADDR=address)


def test_rate_limit_key_is_the_address_or_its_64():
    keys = {
        "203.0.113.9": "203.0.113.9",
        "::ffff:203.0.113.9": "203.0.113.9",
        "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::",
        "2001:db8:1:2::": "2001:db8:1:2::",
        "2001:DB8:1:3::1": "2001:db8:1:3::",
        "::1": "::",
        "fe80::1%eth0": "fe80::",
        "": "",
    }
    assert {
        address: client_address.rate_limit_key(make_request(address)) for address in keys
    } == keys


def test_client_is_the_last_address_that_is_not_a_trusted_proxy(settings):
    settings.TRUSTED_PROXIES = [" 10.0.0.0/8", "::1"]
    clients = {
        None: "10.0.0.9",
        "203.0.113.9": "203.0.113.9",
        "6.6.6.6, 203.0.113.9": "203.0.113.9",
        "203.0.113.9, 10.0.0.8,10.0.0.7 ": "203.0.113.9",
        "10.0.0.7": "10.0.0.7",
        "[2001:DB8::1]:4711": "2001:db8::1",
        "::ffff:203.0.113.9": "203.0.113.9",
        "::ffff:10.0.0.7": "10.0.0.7",
        "203.0.113.9.9": "unknown",
        "": "unknown",
        "9" * 8000: "unknown",
        "203.0.113.9" + " " * 8000: "unknown",
        "10.0.0.1, " * 700 + "10.0.0.2": "10.0.0.1",
    }
    for forwarded, client in clients.items():
        assert client_address.client(make_request("10.0.0.9", forwarded)) == client
        assert client_address.client(make_request("::ffff:10.0.0.9", forwarded)) in (
            client,
            "::ffff:10.0.0.9",
        )
        assert client_address.client(make_request("203.0.113.1", forwarded)) == "203.0.113.1"
        assert (
            client_address.rate_limit_key(make_request("203.0.113.1", forwarded)) == "203.0.113.1"
        )
    assert (
        client_address.rate_limit_key(make_request("10.0.0.9", "6.6.6.6, 203.0.113.9"))
        == "203.0.113.9"
    )

    # A change of TRUSTED_PROXIES takes effect at once.
    answers = []
    for settings.TRUSTED_PROXIES in (["10.0.0.0/8"], [], ["10.0.0.0/8"], ["192.0.2.0/24"]):
        answers.append(client_address.client(make_request("10.0.0.9", "203.0.113.9")))

    assert answers == ["203.0.113.9", "10.0.0.9", "203.0.113.9", "10.0.0.9"]


def test_request_after_retry_after_is_accepted(settings, time_machine):
    """Counted for a /64 of IPv6 together."""
    settings.RATE_LIMIT = "1/min"
    start = 1_800_000_000  # start of a minute
    for left in (60, 59.5, 30.2, 0.4, 0.001):
        time_machine.move_to(start + 60 - left, tick=False)
        limit, request = throttling.RateLimit(), make_request("2001:db8::1:1")
        while limit.allow_request(request):
            pass
        assert throttling.RateLimit().allow_request(make_request("2001:db8:0:1::1"))
        time_machine.move_to(start + 60 - left + limit.wait(), tick=False)

        assert throttling.RateLimit().allow_request(make_request("2001:db8::2:1"))
        start += 600


def test_other_clients_do_not_reset_a_counter():
    """Without Redis, the counters are in a cache of limited size, and anybody has many IPv6
    addresses.
    """
    limit = throttling.RateLimit("2/h")
    assert [limit.allow("203.0.113.9") for _ in range(3)] == [True, True, False]

    for number in range(1000):
        limit.allow(f"2001:db8:0:{number:x}::/64")

    assert not limit.allow("203.0.113.9")
