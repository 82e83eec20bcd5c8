"""Charts as SVG."""

from xml.etree import ElementTree

from jobsite.admin.charts import Series, bar_chart, legend, line_chart, nice_ceiling, sparkline

NAME = '<b onload="x">Ärzte & Co</b>'
MANY = [Series(f"Series {number}", [number, 2, 3]) for number in range(9)]


def parsed(chart):
    return ElementTree.fromstring(chart)


def test_charts_are_well_formed_and_have_neither_style_nor_script():
    tags = {
        "svg",
        "g",
        "path",
        "polyline",
        "polygon",
        "circle",
        "line",
        "rect",
        "text",
        "title",
        "ul",
        "li",
    }
    for chart in (
        sparkline([1, 2, 0]),
        line_chart(["1 Mar", NAME], [Series(NAME, [3, 1_000_000])]),
        line_chart([], []),
        line_chart(["1 Mar"], [Series("One day", [0])]),
        bar_chart([(NAME, 0), ("Two", 2.5)]),
        bar_chart([]),
        legend(MANY),
    ):
        for element in parsed(chart).iter():
            assert element.tag in tags
            assert not {"style", "href"} & set(element.attrib)
            assert not any(name.startswith("on") for name in element.attrib)
        assert not [text for text in ("<b", "NaN", "inf") if text in chart]


def test_lines_names_and_scale_of_charts():
    chart = parsed(line_chart(["a", "b", "c"], MANY))
    groups = chart.findall("g")
    assert [group.get("class") for group in groups] == [f"plot-series is-{n}" for n in range(1, 7)]
    assert len({group.find("path").get("d") for group in groups}) == 6

    texts = [element.text for element in parsed(bar_chart([(NAME, 3)])).iter() if element.text]
    assert texts == [NAME, "3"]

    tops = {0: 4, 3: 4, 4: 4, 7: 8, 100: 100, 101: 200, 950_000: 1_000_000}
    assert {value: nice_ceiling(value) for value in tops} == tops
    assert sparkline([5]) == sparkline([]) == ""  # it needs two values
