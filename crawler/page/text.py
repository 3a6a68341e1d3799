"""Visible text: which elements separate words, and how space is collapsed. Also the reader of plain text."""

from crawler.page.facts import Page, Source

# Elements before and after which a word ends, whatever a style sheet says: those that the HTML standard's rendering
# section (15.3) does not lay out in a line of text, and those that stand for a picture or a control.
BREAKS = frozenset({"address", "article", "aside", "audio", "blockquote", "br", "button", "canvas", "caption",
                    "center", "col", "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "embed",
                    "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2", "h3",
                    "h4", "h5", "h6", "header", "hgroup", "hr", "iframe", "img", "input", "legend", "li",
                    "listing", "main", "marquee", "menu", "meter", "nav", "object", "ol", "optgroup", "option",
                    "p", "plaintext", "pre", "progress", "search", "section", "select", "summary", "svg",
                    "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul", "video",
                    "xmp"})  # fmt: skip

# Those after which no space is needed: they are empty, or what follows is another of them or the end of their parent.
INNER_BREAKS = frozenset({"br", "col", "dd", "dt", "embed", "frame", "hr", "img", "input", "li", "optgroup",
                          "option", "tbody", "td", "tfoot", "th", "thead", "tr"})  # fmt: skip

# Elements whose content nobody sees. `noscript` is parsed as markup (scripting off), for its links.
UNSEEN_SOURCE = ["script", "style"]
UNSEEN = ["noscript", "iframe", "noframes", "noembed", "datalist", "rp"]


def collapse(text: str) -> str:
    """Words separated by single spaces; any Unicode space counts, no-break space too."""
    return " ".join(text.split())


def read_plain(source: Source) -> Page:
    """A page of plain text: text, and nothing else."""
    return Page(source.content_type, source.charset, base=source.url, text=collapse(source.text))
