"""Base serializers of items: optional keys, absolute URLs."""

from typing import Any

from django.db import models
from rest_framework import serializers

from jobsite.api.absolute_urls import absolute
from jobsite.api.placeholders import AddressToken, Placeholder
from jobsite.types import JsonObject


class PlainItemSerializer(serializers.Serializer):
    """Plain data as an item: all keys are present, in the order of `fields`.

    Keys in `Meta.omit_absent` are omitted when they have no value. `only` restricts an item to some
    keys.
    """

    def __init__(self, *args: Any, only: list[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if only is not None:
            for name in set(self.fields) - set(only):
                self.fields.pop(name)

    @property
    def keys(self) -> list[str]:
        """The keys of an item, for the OpenAPI document.
        Override it if `to_representation` adds keys.
        """
        return list(self.fields)

    def to_representation(self, instance: object) -> JsonObject:
        item = super().to_representation(instance)
        for name in getattr(getattr(self, "Meta", None), "omit_absent", ()):
            if name in item and not item[name]:
                del item[name]
        return item


class ItemSerializer(PlainItemSerializer, serializers.ModelSerializer):
    """A model instance as an item."""


class SharedItemSerializer(ItemSerializer):
    """A model instance that many items contain. In a rendered item, a placeholder stands for it."""

    def to_representation(self, instance: models.Model) -> object:
        if self.parent is not None and self.context.get("is_stored"):
            return Placeholder(f"{instance._meta.model_name}:{instance.pk}")
        return super().to_representation(instance)


class TextField(serializers.CharField):
    """Text, or null if it is empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **kwargs)

    def to_representation(self, value: str) -> str | None:
        return value or None


class PageField(serializers.Field):
    """A path below this service as an absolute URL; an external URL; null if it is empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)

    def to_representation(self, address: str) -> str | None:
        if not address.startswith("/"):
            return address or None
        is_stored = self.context.get("is_stored")
        return AddressToken(address) if is_stored else absolute(self.context["request"], address)


class AddressField(serializers.Field):
    """Absolute URL of an uploaded file, else an external URL, else `empty`.

    A `preview` token in the context is added to the URL of the file, so that it opens the file too.
    """

    def __init__(self, file: str, url: str, empty: str | None = None) -> None:
        self.file, self.url, self.empty = file, url, empty
        super().__init__(source="*", read_only=True)

    def to_representation(self, value: object) -> str | None:
        file = getattr(value, self.file)
        address = file.url if file else getattr(value, self.url)
        if not address:
            return self.empty
        if self.context.get("is_stored"):
            return AddressToken(address) if address.startswith("/") else address
        if file and self.context.get("preview"):
            address += f"?preview={self.context['preview']}"
        return absolute(self.context["request"], address)
