"""The console script `raycrawl`: one subcommand a job."""

import typer

from jobs.crawl import crawl

app = typer.Typer(
    name="raycrawl",
    help="A parallel web crawler on Ray: polite, restartable; its output is its journal.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: errors are one line, and square brackets are themselves
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(crawl)


@app.callback()
def _commands() -> None:
    """Makes a group of the app while it has one command."""


if __name__ == "__main__":
    app()
