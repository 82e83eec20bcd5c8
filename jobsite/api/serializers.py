"""Building blocks of items: keys that may be absent, addresses that are always absolute."""

from typing import Any

from rest_framework import serializers

from jobsite.api.addresses import absolute
from jobsite.api.placeholders import AddressToken, Token


class PlainItemSerializer(serializers.Serializer):
    """Plain data as an item of the interface: keys in the order of `fields`, all of them always there.

    `Meta.omit_absent` names the keys that are left out while they have no value. `only` restricts
    an item to some keys.
    """

    def __init__(self, *args: Any, only: list[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if only is not None:
            for name in set(self.fields) - set(only):
                self.fields.pop(name)

    @property
    def keys(self) -> list[str]:
        """The keys of an item, for the OpenAPI document; override where `to_representation` adds some."""
        return list(self.fields)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        item = super().to_representation(instance)
        for name in getattr(getattr(self, "Meta", None), "omit_absent", ()):
            if name in item and not item[name]:
                del item[name]
        return item


class ItemSerializer(PlainItemSerializer, serializers.ModelSerializer):
    """A model as an item of the interface."""


class SharedItemSerializer(ItemSerializer):
    """One that many items show: in those that are stored a token stands for it."""

    def to_representation(self, instance: Any) -> Any:
        if self.parent is not None and self.context.get("is_stored"):
            return Token(f"{instance._meta.model_name}:{instance.pk}")
        return super().to_representation(instance)


class TextField(serializers.CharField):
    """Text, null when there is none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **kwargs)

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]
        return value or None


class AddressField(serializers.Field):
    """Absolute URL of an uploaded file, else of one kept elsewhere, else `empty`. The token of a `preview`
    in the context opens the file too."""

    def __init__(self, file: str, url: str, empty: str | None = None) -> None:
        self.file, self.url, self.empty = file, url, empty
        super().__init__(source="*", read_only=True)

    def to_representation(self, value: Any) -> str | None:
        file = getattr(value, self.file)
        address = file.url if file else getattr(value, self.url)
        if not address:
            return self.empty
        if self.context.get("is_stored"):
            return AddressToken(address) if address.startswith("/") else address
        if file and self.context.get("preview"):
            address += f"?preview={self.context['preview']}"
        return absolute(self.context["request"], address)
