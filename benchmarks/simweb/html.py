"""Pages as bytes: made of a world's prose and a page's links. Knows no HTTP."""

from html import escape
from math import log
from random import Random

from benchmarks.simweb.hosts import Page, Role
from benchmarks.simweb.links import NAVIGATION, Link, page_links, trap_links
from benchmarks.simweb.world import Place, World

# Page sizes are log-normal about the mean; with this spread a page in thirty is more than three times the median.
_SPREAD = 0.6
_STYLE = (
    "<style>body{margin:0 auto;max-width:60em}nav li{display:inline}.text{line-height:1.4}</style>"
)


def page_bytes(world: World, page: Page) -> bytes:
    """The body of a page that answers 200 with HTML, in its charset. A duplicate's is its original's."""
    if page.role is Role.DUPLICATE and page.goal:
        return page_bytes(world, world.at(page.goal))
    # A near duplicate is its original, one sentence longer.
    source = world.at(page.goal) if page.goal else page
    links = page_links(world, page)
    menu_length = min(NAVIGATION, len(world.hosts[source.host].pages))
    random = Random((world.options.seed << 40) ^ (source.host << 20) ^ source.number)
    menu = "".join(_anchor(link, "<li>", "</li>") for link in links[:menu_length])
    title = f"{random.choice(world.prose.phrases).capitalize()}, {source.number} of {world.hosts[source.host].name}"
    head = _head(world, source, title)
    room = (
        random.lognormvariate(log(world.options.page_bytes) - _SPREAD**2 / 2, _SPREAD)
        - len(head)
        - 100 * len(links)
    )
    count = max(1, int(room / world.prose.paragraph_bytes))
    paragraphs = random.choices(world.prose.paragraphs, k=count)
    last = f"<p>Revised as number {page.number}.</p>\n" if page.role is Role.NEAR else ""
    text = (
        f"{head}<body>\n<nav><ul>{menu}</ul></nav>\n<main><h1>{title}</h1>\n"
        f"{_woven(paragraphs, links[menu_length:])}{last}</main>\n"
        "<footer><p>Café, naïve, señor: © a simulated host.</p></footer>\n</body>\n</html>\n"
    )
    return text.encode(_codec(source))


def trap_bytes(world: World, place: Place) -> bytes:
    """The body of a page in a trap: never the bytes of another one."""
    name = world.url(place.host, place.target, place.wild)
    items = "".join(_anchor(link, "<li>", "</li>") for link in trap_links(world, place))
    text = (
        f"<!doctype html>\n<html><head><title>{escape(name[-80:])}</title></head>\n"
        f"<body><p>{escape(name)}</p><ul>{items}</ul></body></html>\n"
    )
    return text.encode()


def plain_text(world: World, page: Page) -> bytes:
    """The body of a text/plain page; its URL-like line is no link."""
    random = Random(page.host << 20 ^ page.number)
    lines = [" ".join(random.choices(world.prose.words, k=12)) for _ in range(20)]
    return "\n".join([world.url_of(page), *lines, ""]).encode()


def _codec(page: Page) -> str:
    return "cp1252" if page.charset == "windows-1252" else "utf-8"


def _head(world: World, page: Page, title: str) -> str:
    metas = ['<meta name="viewport" content="width=device-width">']
    if page.charset == "meta":
        metas.append('<meta charset="utf-8">')
    if page.nofollow not in ("", "header"):
        metas.append(f'<meta name="{page.nofollow}" content="noindex, nofollow">')
    if page.base:
        metas.append(f'<base href="{world.url(world.hosts[page.host], "/")}">')
    metas.append(f'<link rel="canonical" href="{escape(world.url_of(page))}">')
    metas.append('<link rel="stylesheet" href="/style.css">')
    return f'<!doctype html>\n<html lang="en">\n<head>\n<title>{title}</title>\n{"".join(metas)}\n{_STYLE}\n</head>\n'


def _anchor(link: Link, before: str, after: str) -> str:
    rel = f' rel="{link.rel}"' if link.rel else ""
    href = link.href.replace("&", "&amp;")
    return f'{before}<a href="{href}"{rel}>{link.text}</a>{after}'


def _woven(paragraphs: list[str], links: list[Link]) -> str:
    """The links, dealt out evenly behind the paragraphs."""
    share, rest = divmod(len(links), len(paragraphs))
    parts = []
    start = 0
    for index, paragraph in enumerate(paragraphs):
        end = start + share + (index < rest)
        parts.append(paragraph)
        if end > start:
            parts.append('<div class="see">')
            parts += [_anchor(link, "", "\n") for link in links[start:end]]
            parts.append("</div>\n")
        start = end
    return "".join(parts)
