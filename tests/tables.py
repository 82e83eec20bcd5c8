"""Tables as programs write them, and the lists that they become."""

TABLES = {
    "pairs": (
        "<table><tr><td>Pay:<td>3,000<tr><td>Leave<td><b>32</b> days</table>",
        "<ul><li>Pay: 3,000</li><li>Leave: <b>32</b> days</li></ul>",
    ),
    "header cells": (
        "<table><tr><th>Day<th>From<th>To<tr><td>Monday<td>9<td>17<tr><td>Friday<td><td>12</table>",
        "<ul><li>Day: Monday; From: 9; To: 17</li><li>Day: Friday; To: 12</li></ul>",
    ),
    "repeated row": (
        "<table><thead><tr><td><p>Day</p><td><p>Shift</p></thead>"
        "<tr><td><p>Monday</p><td><p>early</p><p>or late</p></table>",
        "<ul><li>Day: Monday; Shift: early<br>or late</li></ul>",
    ),
    "heading without values": (
        "<table><tr><th>Day<th>Note<tr><td>Monday<td></table>",
        "<ul><li>Day: Note</li><li>Monday</li></ul>",
    ),
    "merged columns": (
        "<table><tr><th>Day<th colspan=2>Hours<tr><td>Monday<td>9<td>17</table>",
        "<ul><li>Day: Monday; Hours: 9; Hours: 17</li></ul>",
    ),
    "merged rows": (
        "<table><tr><td rowspan=2>Monday<td>early<td>7<tr><td>late<td>14</table>",
        "<ul><li>Monday; early; 7</li><li>Monday; late; 14</li></ul>",
    ),
    "one column": (
        "<table><caption>Tasks</caption><tr><td>Care<tr><td><tr><td>Notes</table>",
        "<p>Tasks</p><ul><li>Care</li><li>Notes</li></ul>",
    ),
    "lists in cells": (
        "<table><tr><td>We ask<td><ul><li>care<li>rest</ul><tr><td>We "
        "offer<td>pay<ol><li>x</ol></table>",
        "<ul><li>We ask<ul><li>care</li><li>rest</li></ul></li>"
        "<li>We offer: pay<ol><li>x</li></ol></li></ul>",
    ),
    "nested": (
        "<table><tr><td>Hours<td><table><tr><td>Monday<td>9</table></table>",
        "<ul><li>Hours<ul><li>Monday: 9</li></ul></li></ul>",
    ),
    "one cell": ("<table><tr><td><p>one</p><p>two</p></table>", "<p>one</p><p>two</p>"),
    "headings": (
        "<table><tr><td><h2>We ask</h2><p>care</p><td>rest</table>",
        "<h2>We ask</h2><p>care</p><p>rest</p>",
    ),
    "presentation": ("<table role=none><tr><td><p>one</p><td>two</table>", "<p>one</p><p>two</p>"),
    "empty": ("<p>x</p><table><tr><td><td> </table>", "<p>x</p>"),
    "between": (
        "<p>before</p><table><tr><td>a<td>b<td>c</table><p>after</p>",
        "<p>before</p><ul><li>a; b; c</li></ul><p>after</p>",
    ),
}
