"""FILES_URL: what it means, and the one line for each mistake."""

import pytest

from jobsite.object_store.url import parse


def test_url_names_endpoint_bucket_and_key() -> None:
    assert parse("s3://KEY:a%2Fb%2B@s3.example.com/jobs-files") == {
        "access_key": "KEY",
        "secret_key": "a/b+",
        "bucket_name": "jobs-files",
        "endpoint_url": "https://s3.example.com",
        "region_name": "us-east-1",
    }
    other = parse("s3://a%3Ab:s@[::1]:9000/files?region=eu&tls=off")
    assert (other["access_key"], other["region_name"]) == ("a:b", "eu")
    assert other["endpoint_url"] == "http://[::1]:9000"


def test_each_mistake_names_the_variable_and_no_secret() -> None:
    for url, part in (
        ("https://KEY:hunter2@host/files", "must start with s3://"),
        ("s3://KEY:hunter2@host", "the bucket ''"),
        ("s3://KEY:hunter2@host/Files", "the bucket 'Files'"),
        ("s3://KEY:hunter2@host/files/folder", "the bucket 'files/folder'"),
        ("s3://KEY@host/files", "must be s3://KEY:SECRET@HOST/BUCKET"),
        ("s3://host/files", "must be s3://"),
        ("s3://KEY:hun/ter2@host/files", "cannot be read"),
        ("s3://KEY:hunter2@host:x/files", "cannot be read"),
        ("s3://KEY:hunter2@host/files#x", "must be s3://"),
        ("s3://KEY:hunter2@host/files?tls=no", "tls='no', not on or off"),
        ("s3://KEY:hunter2@host/files?acl=public", "['acl']; use region and tls"),
        ("s3://KEY:hunter2@host/files?region=", "['region=']"),
        ("s3://KEY:hunter2@host/files?region", "cannot be read"),
    ):
        with pytest.raises(ValueError, match=r"^FILES_URL ") as refused:
            parse(url)
        text = str(refused.value)
        assert (part in text, "hun" in text, "\n" in text) == (True, False, False), (url, text)
