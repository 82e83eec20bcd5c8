"""The defects of the mutation check fit the code as it is.
They are applied by `python -m tests.mutation`.
"""

import pytest

from tests.mutation.defects import ROOT, read, with_recorder


def test_every_defect_fits_the_code():
    problems = {}
    defects = read()
    assert [each.number for each in defects] == list(range(1, 73))
    for defect in defects:
        text = (ROOT / defect.path).read_text()
        try:
            changed = defect.apply(text)
            if defect.path.endswith(".py"):
                compile(changed, defect.path, "exec")
            if defect.is_recorded:
                compile(with_recorder(text, [defect]), defect.path, "exec")
        except (ValueError, SyntaxError) as error:
            problems[defect.number] = f"{defect.path}: {error}"
        missing = [
            path for path in (*defect.tests, *defect.elsewhere) if not (ROOT / path).exists()
        ]
        if missing:
            problems[defect.number] = f"there is no {', '.join(missing)}"
    assert problems == {}


def test_a_defect_that_does_not_fit_is_refused():
    for old in ("x = 1", "y"):
        defect = read()[0]
        defect.old = old
        with pytest.raises(ValueError, match="times, not once"):
            defect.apply("y = y")
