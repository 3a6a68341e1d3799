"""A configuration from its file and the options beside it; what is wrong with it is said in one line.

It must not know what any key means: that, and what may be its value, stands in `crawler.config`.
"""

import difflib
import tomllib
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from crawler.config import Config
from crawler.errors import ConfigError

# What is said of these must not repeat them.
_SECRET = frozenset({"headers", "cookies", "auth", "proxy"})
# Tables with such keys below them: who writes a value in a table's place may have meant a secret.
_SECRETIVE = frozenset({"fetch"})


def load(path: Path | None, options: dict[str, Any]) -> Config:
    """The tree of a TOML file, with dotted options laid over it (`{"politeness.delay": 2.0}`).

    Raises `ConfigError`: one line that names the key, the place and, for an unknown key, the nearest known one.
    """
    tree = _read(path) if path else {}
    for dotted, value in options.items():
        _lay(tree, dotted.split("."), value)
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(_one_line(error, str(path) if path else "options")) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        message = f"{path}: cannot read the configuration: {error.strerror}"
        raise ConfigError(message) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{path}: not TOML: {error}"
        raise ConfigError(message) from None


def _lay(tree: dict[str, Any], names: list[str], value: Any) -> None:
    *branches, leaf = names
    for name in branches:
        branch = tree.setdefault(name, {})
        if not isinstance(branch, dict):
            found = "" if name in _SECRETIVE else f", found {branch!r}"
            message = f"{name}: expected a table{found}"
            raise ConfigError(message)
        tree = branch
    tree[leaf] = value


def _one_line(error: ValidationError, source: str) -> str:
    first = error.errors()[0]
    dotted = ".".join(str(part) for part in first["loc"])
    dotted = "".join(char if char.isprintable() else repr(char)[1:-1] for char in dotted)
    if first["type"] != "extra_forbidden":
        reason = first["msg"].removeprefix("Value error, ")
        # A table is too long to repeat; a secret must not be.
        hidden = (
            isinstance(first["input"], dict)
            or not _SECRET.isdisjoint(first["loc"])
            or (first["loc"][0] in _SECRETIVE and first["type"] in {"model_type", "dict_type"})
        )
        found = "" if hidden else f" (found {first['input']!r})"
        return f"{source}: {dotted}: {reason}{found}"
    *branch, unknown = (str(part) for part in first["loc"])
    known = _names_at(branch)
    nearest = difflib.get_close_matches(unknown, known, n=1, cutoff=0.5) or known[:1]
    hint = f"; did you mean {'.'.join([*branch, nearest[0]])!r}?" if nearest else ""
    return f"{source}: unknown key {dotted!r}{hint}"


def _names_at(branch: list[str]) -> list[str]:
    model: Any = Config
    for name in branch:
        field = getattr(model, "model_fields", {}).get(name)
        # A name that is no field is a key of a table: the model then is that of the table's values.
        model = field.annotation if field else (get_args(model) or (None,))[-1]
    return list(getattr(model, "model_fields", {}))
