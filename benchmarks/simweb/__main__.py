"""`python -m benchmarks.simweb`: serves a world until it is told to stop. One line of JSON says that it is ready."""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import get_args

from benchmarks.simweb.answers import Answers
from benchmarks.simweb.options import Options, Traps
from benchmarks.simweb.server import CONTROL, Web, listen, serve
from benchmarks.simweb.settings import config_toml
from benchmarks.simweb.world import World


def flags() -> argparse.ArgumentParser:
    """The command line: every field of `Options`, and where things are written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simweb", description=__doc__)
    for option in fields(Options):
        flag = f"--{option.name.replace('_', '-')}"
        if isinstance(option.default, bool):
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=option.default)
        else:
            choices = get_args(Traps) if option.name == "traps" else None
            parser.add_argument(
                flag, type=type(option.default), default=option.default, choices=choices
            )
    parser.add_argument(
        "--port", type=int, default=0, help="0 chooses one that is free on every address"
    )
    parser.add_argument("--log", type=Path, help="written at the end and at SIGUSR1")
    parser.add_argument("--config", type=Path, help="write a configuration for the crawler")
    parser.add_argument(
        "--delay", type=float, default=1.0, help="politeness.delay of that configuration"
    )
    parser.add_argument("--seeds-file", type=Path, help="write the seeds, one a line")
    parser.add_argument(
        "--cache-bytes", type=int, default=1 << 30, help="how many bytes of pages are kept"
    )
    parser.add_argument(
        "--warm", action=argparse.BooleanOptionalAction, default=True, help="make the pages first"
    )
    parser.add_argument("--child", action="store_true", help="end when the standard input closes")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Makes the world, writes the files asked for, serves."""
    given = flags().parse_args(arguments)
    options = Options(**{option.name: getattr(given, option.name) for option in fields(Options)})
    # The addresses do not depend on the port; the pages do.
    addresses = [host.address for host in World(options, 0).hosts if host.listening]
    port, sockets = listen([CONTROL, *addresses], given.port)
    world = World(options, port)
    answers = Answers(world, given.cache_bytes)
    if given.warm:
        answers.warm(gzip=options.gzip)
    if given.config:
        given.config.write_text(
            config_toml(world.overrides, given.delay, sitemaps=options.sitemaps), encoding="utf-8"
        )
    if given.seeds_file:
        given.seeds_file.write_text("".join(f"{seed}\n" for seed in world.seeds), encoding="utf-8")
    line = {"port": port, "seeds": world.seeds, "overrides": world.overrides, "pid": os.getpid()}
    web = Web(lambda netloc, target, gzip: answers.get(netloc, target, gzip=gzip))
    serve(web, sockets, lambda: print(json.dumps(line), flush=True), given.log, child=given.child)


if __name__ == "__main__":
    main()
