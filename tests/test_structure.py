"""Rules of the structure (docs/architecture.md) that import-linter does not check."""

import ast
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin

from jobsite.admin.base import JobsiteAdmin

APPS = ("applications", "forms_structure", "jobsite", "vacancies")
SOURCES = [
    path
    for app in APPS
    for path in Path(app).rglob("*.py")
    if "migrations" not in path.parts and path.name != "__init__.py"
]
ADMINS: list[Any] = list(admin.site._registry.values())
MODULES_MAX = 20  # in a folder
TEMPLATES_MAX = 15
ARGUMENTS_MAX = 6  # of a function, self and cls aside


def is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in APPS


@pytest.mark.parametrize("page", ADMINS, ids=str)
def test_an_admin_has_few_base_classes_and_one_at_a_time(page: Any) -> None:
    """Pages beside the list and the form are `AdminPages`, which receive the admin."""
    own = [cls for cls in type(page).__mro__ if is_ours(cls)]
    assert len(own) - 1 <= 7, own
    shared = JobsiteAdmin.__mro__
    several = {cls: bases for cls in own if len(bases := list(filter(is_ours, cls.__bases__))) > 1}
    assert {cls: bases for cls, bases in several.items() if cls not in shared} == {}


def test_apps_register_their_own_models_and_the_office_those_that_join_apps() -> None:
    foreign = {
        f"{type(page).__module__}: {model.__name__}"
        for model, page in admin.site._registry.items()
        if (package := type(page).__module__).partition(".")[0]
        not in (model._meta.app_label, "jobsite")
        or (
            package.startswith("jobsite")
            and not package.startswith(("jobsite.office.", "jobsite.admin."))
        )
    }
    assert foreign == set()


def test_folders_are_small() -> None:
    modules = Counter(str(path.parent) for path in SOURCES)
    templates = Counter(str(path.parent) for path in Path("templates").rglob("*") if path.is_file())
    assert {folder: count for folder, count in modules.items() if count > MODULES_MAX} == {}
    assert {folder: count for folder, count in templates.items() if count > TEMPLATES_MAX} == {}


def test_no_two_classes_have_one_name() -> None:
    """Except the versions of the API, which do not import each other, and `Command`s."""
    found = defaultdict(list)
    for path in SOURCES:
        if "api" not in path.parts and "commands" not in path.parts:
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(str(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_no_function_has_more_than_six_arguments() -> None:
    """Acts that need more receive an object, such as `Move`, that says once what they are."""
    found = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                every = [
                    *given.posonlyargs,
                    *given.args,
                    *given.kwonlyargs,
                    given.vararg,
                    given.kwarg,
                ]
                names = [each.arg for each in every if each and each.arg not in ("self", "cls")]
                if len(names) > ARGUMENTS_MAX:
                    found[f"{path}: {node.name}"] = names
    assert found == {}
