"""Kernel: uploaded files in a bucket of an S3-compatible object store, if FILES_URL is set.

`storage.ObjectStorage` is Django's storage for it, once for `media/` and once for `private/`. It
needs the packages of requirements-s3.txt; `circuit_breaker` and `url` do not.
"""
