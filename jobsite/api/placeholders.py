"""Placeholders in a serialized item: values that are filled in when the item is sent."""


class Placeholder(str):
    """The name of a value that is stored elsewhere, such as "brand:12"."""


class AddressToken(str):
    """A path below the base URL of this service."""
