"""The configuration: frozen, the same after a round trip, and coherent."""

import pytest
from pydantic import ValidationError

from crawler.config import Config, ScopeMode


def test_the_tree_is_frozen():
    with pytest.raises(ValidationError):
        Config().scope.mode = ScopeMode.ANY


def test_it_survives_its_own_text():
    config = Config.model_validate({"scope": {"include": ["/a"]}, "politeness": {"delay": 2}})
    assert Config.model_validate_json(config.model_dump_json()) == config


def test_a_page_read_apart_has_less_time_than_a_batch():
    with pytest.raises(ValidationError, match="apart_seconds must be less than batch_seconds"):
        Config.model_validate({"page": {"batch_seconds": 20.0}})
