"""The most naive crawler there is, and robots.txt by regular expressions: a second opinion on worlds and truths."""

import re
import socket
from collections import deque
from html import unescape
from http.client import HTTPConnection
from urllib.parse import urljoin, urlsplit

ANCHOR = re.compile(r"<a ([^>]*)>")
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
LINE = re.compile(r"^[ \t]*([\w-]+)[ \t]*:[ \t]*([^#\n]*?)[ \t]*(?:#.*)?$", re.MULTILINE)


def robots_allow(text, agent, target):
    """Longest match; groups of `agent` or else of `*`. `target` and rules are compared as UTF-8 escapes."""
    groups, current, open_group = {}, [], False
    for name, value in LINE.findall(text):
        if name.lower() == "user-agent":
            current = [*current, value.lower()] if open_group else [value.lower()]
            groups.setdefault(value.lower(), [])
            open_group = True
        elif name.lower() in ("allow", "disallow"):
            open_group = False
            for token in current:
                groups[token].append((value, name.lower() == "allow"))
    best = (0, True)
    for pattern, allowed in groups.get(agent, groups.get("*", [])):
        escaped = "".join(
            c if ord(c) < 128 else "".join(f"%{b:02X}" for b in c.encode()) for c in pattern
        )
        expression = re.escape(escaped.removesuffix("$")).replace(r"\*", ".*") + (
            "$" if pattern.endswith("$") else ""
        )
        if pattern and re.match(expression, target):
            best = max(best, (len(escaped), allowed))
    return best[1]


class Naive:
    """Breadth first, one connection per request; URLs are told apart by `identity`."""

    def __init__(self, overrides, identity, agent="raycrawl", timeout=0.15):
        self.overrides = overrides
        self.identity = identity
        self.agent = agent
        self.timeout = timeout
        self.robots = {}
        self.rows = {}

    def ask(self, url):
        """(status, headers, body), or the exception's class."""
        parts = urlsplit(url)
        connection = HTTPConnection(
            self.overrides[parts.hostname], parts.port, timeout=self.timeout
        )
        target = parts.path + ("?" + parts.query if parts.query else "")
        try:
            connection.request(
                "GET", target, headers={"Host": parts.netloc, "User-Agent": self.agent}
            )
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def rules(self, url):
        """robots.txt as text, or `None`: nothing may be asked."""
        root = urljoin(url, "/robots.txt")
        if root not in self.robots:
            self.robots[root] = self._rules(root)
        return self.robots[root]

    def _rules(self, url):
        for _ in range(4):
            try:
                status, headers, body = self.ask(url)
            except TimeoutError:
                return None
            if status == 200:
                return body.decode()
            if status < 400:
                url = urljoin(url, headers["Location"])
            elif status < 500:
                return ""
        return None

    def crawl(self, seeds, refuses=lambda url: False):
        """Identity → kind, of everything that can be reached."""
        waiting, seen = deque(seeds), set()
        while waiting:
            url = waiting.popleft()
            key = self.identity(url)
            if key in seen or refuses(key):
                continue
            seen.add(key)
            self.rows[key], links = self.visit(url)
            waiting.extend(links)
        return self.rows

    def visit(self, url):
        try:
            rules = self.rules(url)
            if rules is None:
                return "robots_unreachable", []
            if not robots_allow(rules, self.agent, "/" + url.split("/", 3)[3]):
                return "robots_denied", []
            return self.answered(url)
        except ConnectionRefusedError:
            return "connect_error", []
        except socket.gaierror:
            return "dns_error", []

    def answered(self, url):
        for _ in range(3):
            status, headers, body = self.ask(url)
            if status in (301, 302, 303, 307, 308):
                target = urljoin(url, headers["Location"])
                if self.identity(target) == self.identity(url):
                    return self.answered(target)
                return "redirect", [target]
            if status == 200:
                return self.taken(url, headers, body)
            if not headers["Retry-After"]:
                break
        return "http_error", []

    def taken(self, url, headers, body):
        if not headers["Content-Type"].startswith("text/"):
            return "excluded_type", []
        page = body.decode("cp1252" if "1252" in headers["Content-Type"] else "utf-8")
        directives = "".join(
            re.findall(rf'<meta name="(?:robots|{self.agent})" content="([^"]*)"', page)
        )
        if "text/plain" in headers["Content-Type"] or "nofollow" in directives + headers.get(
            "X-Robots-Tag", ""
        ):
            return "fetched", []
        base = re.search(r'<base href="([^"]*)"', page)
        links = []
        for attributes in ANCHOR.findall(page):
            found = dict(ATTRIBUTE.findall(attributes))
            link = urljoin(base[1] if base else url, unescape(found["href"]))
            if "nofollow" not in found.get("rel", "").lower() and link.lower().startswith(
                "http://"
            ):
                links.append(link.partition("#")[0])
        return "fetched", links
