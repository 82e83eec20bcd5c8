"""Tables as programs write them, and the lists that they become: on the server and in the editor."""

TABLES = {
    "pairs": (
        "<table><tr><td>Pay:</td><td>3,000</td></tr><tr><td>Leave</td><td><b>32</b> days</td></tr></table>",
        "<ul><li>Pay: 3,000</li><li>Leave: <b>32</b> days</li></ul>",
    ),
    "header cells": (
        "<table><tr><th>Day</th><th>From</th><th>To</th></tr><tr><td>Monday</td><td>9</td><td>17</td></tr>"
        "<tr><td>Friday</td><td></td><td>12</td></tr></table>",
        "<ul><li>Day: Monday; From: 9; To: 17</li><li>Day: Friday; To: 12</li></ul>",
    ),
    "repeated row": (
        "<table><thead><tr><td><p>Day</p></td><td><p>Shift</p></td></tr></thead><tbody><tr><td><p>Monday</p>"
        "</td><td><p>early</p><p>or late</p></td></tr></tbody></table>",
        "<ul><li>Day: Monday; Shift: early<br>or late</li></ul>",
    ),
    "heading without values": (
        "<table><tr><th>Day</th><th>Note</th></tr><tr><td>Monday</td><td></td></tr></table>",
        "<ul><li>Day: Note</li><li>Monday</li></ul>",
    ),
    "merged columns": (
        "<table><tr><th>Day</th><th colspan=2>Hours</th></tr><tr><td>Monday</td><td>9</td><td>17</td></tr></table>",
        "<ul><li>Day: Monday; Hours: 9; Hours: 17</li></ul>",
    ),
    "merged rows": (
        "<table><tr><td rowspan=2>Monday</td><td>early</td><td>7</td></tr><tr><td>late</td><td>14</td></tr></table>",
        "<ul><li>Monday; early; 7</li><li>Monday; late; 14</li></ul>",
    ),
    "one column": (
        "<table><caption>Tasks</caption><tr><td>Care</td></tr><tr><td></td></tr><tr><td>Notes</td></tr></table>",
        "<p>Tasks</p><ul><li>Care</li><li>Notes</li></ul>",
    ),
    "lists in cells": (
        "<table><tr><td>We ask</td><td><ul><li>care</li><li>rest</li></ul></td></tr><tr><td>We offer</td>"
        "<td>pay<ol><li>x</li></ol></td></tr></table>",
        "<ul><li>We ask<ul><li>care</li><li>rest</li></ul></li><li>We offer: pay<ol><li>x</li></ol></li></ul>",
    ),
    "nested": (
        "<table><tr><td>Hours</td><td><table><tr><td>Monday</td><td>9</td></tr></table></td></tr></table>",
        "<ul><li>Hours<ul><li>Monday: 9</li></ul></li></ul>",
    ),
    "one cell": ("<table><tr><td><p>one</p><p>two</p></td></tr></table>", "<p>one</p><p>two</p>"),
    "headings": (
        "<table><tr><td><h2>We ask</h2><p>care</p></td><td>rest</td></tr></table>",
        "<h2>We ask</h2><p>care</p><p>rest</p>",
    ),
    "presentation": (
        "<table role=presentation><tr><td><p>one</p></td><td>two</td></tr></table>",
        "<p>one</p><p>two</p>",
    ),
    "empty": ("<p>x</p><table><tr><td></td><td> </td></tr></table>", "<p>x</p>"),
    "between": (
        "<p>before</p><table><tr><td>a</td><td>b</td><td>c</td></tr></table><p>after</p>",
        "<p>before</p><ul><li>a; b; c</li></ul><p>after</p>",
    ),
}
