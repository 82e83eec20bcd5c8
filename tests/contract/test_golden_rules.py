"""The golden files keep the rules between responses and fields that no schema states."""

import json

from tests.contract.test_golden import HERE

# v0.1 -> v1.
FIRST_OF = {"type": "types", "contract_type": "contract_types", "work_regime": "work_regimes"}


def data(name):
    return json.loads((HERE / name).read_text())["data"]


def test_v0_1_shows_the_vacancies_of_v1_with_one_option_of_a_filter():
    for name in ("vacancies.json", "internal.json"):
        old, new = data(f"v0_1/{name}"), data(f"v1/{name}")
        assert [item["id"] for item in old] == [item["id"] for item in new]
        for one, other in zip(old, new, strict=True):
            firsts = {key: (other[several] or [None])[0] for key, several in FIRST_OF.items()}
            assert one == {key: (other | firsts)[key] for key in one}


def test_single_and_hot_vacancies_are_items_of_the_lists():
    public, internal = data("v1/vacancies.json"), data("v1/internal.json")
    full, bare, inside = (data(f"v1/vacancy-{kind}.json") for kind in ("full", "bare", "internal"))
    assert ([full, bare], inside) == (public, internal[-1])
    assert data("v1/hot.json") == [item for item in public if item["is_hot"]]
    assert data("v1/hot-internal.json") == [item for item in internal if item["is_hot"]]
    assert all(item["slug"].endswith(f"({item['id']})") for item in public + internal)


def all_fields(fields, owner=None):
    for field in fields:
        yield field, owner
        yield from all_fields(field.get("conditional", ()), field)


def test_forms_keep_the_rules_of_their_fields():
    for name in ("v1/form.json", "v1/form-none.json"):
        sections = data(name)
        fields = [pair for section in sections for pair in all_fields(section["fields"])]
        names = [field["name"] for field, _ in fields]
        labels = [field["label"] for field, _ in fields]
        names += [label["name"] for label in labels if isinstance(label, dict)]
        assert len(set(names)) == len(names)
        consent = sections[-1]["fields"][-1]
        assert (consent["type"], consent["required"]) == ("checkbox", True)
        for field, owner in fields:
            options = field.get("options", [])
            assert {option["name"] for option in options} <= {field["name"]}
            if field["type"] == "range":
                assert [option["value"] for option in options] == list("012345")
            if owner is None:
                assert "on_value" not in field
            else:  # "1": a ticked checkbox
                values = [option["value"] for option in owner.get("options", [{"value": "1"}])]
                assert field["on_value"] in values
