"""On which nodes of a cluster a crawl's actors are put."""

import pytest

from actors import crawl


def node(name, alive=True, **resources):
    return {"NodeID": name, "Alive": alive, "Resources": resources}


@pytest.mark.parametrize(
    ("nodes", "chosen"),
    [
        ([node("head"), node("b", CPU=4.0), node("a", CPU=8.0)], ["a", "b"]),
        ([node("gone", alive=False, CPU=4.0), node("a", CPU=1.0)], ["a"]),
        ([node("head", memory=1.0)], ["head"]),
    ],
)
def test_nodes_that_have_cpus_or_all_while_none_has(monkeypatch, nodes, chosen):
    monkeypatch.setattr(crawl.ray, "nodes", lambda: nodes)
    assert crawl._nodes() == chosen
