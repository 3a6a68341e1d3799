"""`python -m benchmarks.simweb.tree`: serves a directory of real files from several loopback addresses.

Every address has the whole tree; URLs have literal addresses, so that any crawler can follow them without names.
Types go by endings, and HTML has no charset, as with `python -m http.server`. There is no robots.txt.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from benchmarks.simweb.answers import Answer, answer
from benchmarks.simweb.server import CONTROL, Web, listen, serve

_TYPES = {
    ".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".txt": "text/plain",
    ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".xml": "application/xml",
    ".svg": "image/svg+xml", ".png": "image/png", ".gif": "image/gif", ".jpg": "image/jpeg", ".pdf": "application/pdf",
    ".zip": "application/zip", ".gz": "application/gzip",
}  # fmt: skip
_NOT_FOUND = answer(404, b"nothing here\n", ("Content-Type: text/plain",))


class Tree:
    """Answers from below one directory, never from outside it. Files are read once and kept."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._kept: dict[str, Answer] = {}

    def get(self, target: str) -> Answer:
        """The answer for a request target; a directory without its slash redirects to the slash."""
        kept = self._kept.get(target)
        if kept is None:
            kept = self._read(target.partition("?")[0])
            if kept is not _NOT_FOUND:
                self._kept[target] = kept
        return kept

    def _read(self, path: str) -> Answer:
        try:
            # Documentation packages link to shared files elsewhere; a link out of the tree is not followed.
            file = (self.root / unquote(path).lstrip("/")).resolve()
            if not file.is_relative_to(self.root):
                return _NOT_FOUND
            if file.is_dir():
                if not path.endswith("/"):
                    return answer(301, headers=(f"Location: {path}/",))
                file /= "index.html"
            media = _TYPES.get(file.suffix.lower(), "application/octet-stream")
            return answer(200, file.read_bytes(), (f"Content-Type: {media}",))
        except (OSError, ValueError):
            return _NOT_FOUND


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until told to stop; one line of JSON says that all addresses accept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simweb.tree", description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--addresses", type=int, default=1)
    parser.add_argument("--index", default="/index.html", help="the path of the seeds")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--child", action="store_true", help="end when the standard input closes")
    given = parser.parse_args(arguments)
    addresses = [f"127.9.{number // 250}.{number % 250 + 1}" for number in range(given.addresses)]
    port, sockets = listen([CONTROL, *addresses], given.port)
    tree = Tree(given.root)
    seeds = [f"http://{address}:{port}{given.index}" for address in addresses]
    line = {"port": port, "seeds": seeds, "overrides": {}, "pid": os.getpid()}
    web = Web(lambda _netloc, target, _gzip: tree.get(target))
    serve(web, sockets, lambda: print(json.dumps(line), flush=True), given.log, child=given.child)


if __name__ == "__main__":
    main()
