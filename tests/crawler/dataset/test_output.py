import json
import os
import pickle
import threading

import pytest
from pyarrow import fs as pafs

from crawler.config import Config
from crawler.dataset.output import Output
from crawler.dataset.record import CrawlRecord
from crawler.dataset.schema import VERSION
from crawler.errors import OutputError

CONFIG = Config()


@pytest.fixture
def output(tmp_path):
    return Output.open(str(tmp_path / "out"))


def claim(
    output, seeds=("https://a.example/",), config=CONFIG, crawl_id="one", version="1", now=5.0
):
    record = output.judge(seeds, config, crawl_id=crawl_id, version=version, now=now)
    output.claim(record)
    return record


def everything(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_opening_touches_nothing(tmp_path):
    output = Output.open(str(tmp_path / "a" / "b"))
    assert list(tmp_path.iterdir()) == []
    assert (output.local, output.state, output.wal) == (
        True,
        tmp_path / "a/b/state",
        tmp_path / "a/b/wal",
    )


def test_a_path_a_relative_path_and_a_file_uri_are_the_same_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outputs = [
        Output.open(out) for out in (str(tmp_path / "out"), "out", f"file://{tmp_path}/out/")
    ]
    assert {output.root for output in outputs} == {str(tmp_path / "out")}
    assert all(output.local for output in outputs)


def test_state_may_lie_elsewhere(tmp_path):
    output = Output.open(str(tmp_path / "out"), tmp_path / "fast")
    assert (output.state, output.wal) == (tmp_path / "fast", tmp_path / "out/wal")


def test_a_remote_output_needs_local_state(tmp_path):
    with pytest.raises(OutputError, match=r"^mock://bucket/crawl: .*local directory"):
        Output.open("mock://bucket/crawl")
    output = Output.open("mock://bucket/crawl", tmp_path)
    assert (output.local, output.wal) == (False, tmp_path / "wal")


def test_a_remote_output_works_alike(tmp_path):
    output = Output.open("mock://bucket/crawl", tmp_path)
    output.filesystem.create_dir(output.root)
    record = claim(output)
    assert output.read_crawl() == record
    assert output.names() == ["crawl.json", "tmp"]


@pytest.mark.parametrize("out", ["nonsense://x/y", "file://host/with/path", "://"])
def test_a_bad_uri_is_one_clear_line(out, tmp_path):
    with pytest.raises(OutputError) as caught:
        Output.open(out, tmp_path)
    assert str(caught.value).startswith(out)
    assert "\n" not in str(caught.value)


def test_a_home_directory_that_is_none_is_one_clear_line():
    with pytest.raises(OutputError, match=r"^~nobody-of-this-name/x: .*home directory"):
        Output.open("~nobody-of-this-name/x")


@pytest.mark.parametrize("out", ["/", "//", "file:///"])
def test_the_root_of_a_file_system_is_no_output(out, tmp_path):
    with pytest.raises(OutputError, match=r"^\S+: the root of a file system"):
        Output.open(out, tmp_path)


def test_an_output_can_be_sent_to_another_process(output):
    claim(output)
    assert pickle.loads(pickle.dumps(output)).read_crawl() == output.read_crawl()


def test_a_file_appears_whole_and_leaves_nothing_behind(output, tmp_path):
    output.put(b"content", "folder", "name.json", sync=True)
    assert everything(tmp_path / "out") == {
        path.relative_to(tmp_path / "out"): content
        for path, content in (
            (tmp_path / "out/tmp", None),
            (tmp_path / "out/folder", None),
            (tmp_path / "out/folder/name.json", b"content"),
        )
    }
    output.put(b"newer", "folder", "name.json", sync=False)
    assert output.read("folder", "name.json") == b"newer"
    assert output.names("folder") == ["name.json"]


@pytest.mark.parametrize("sync", [True, False])
def test_a_synced_file_is_on_disk_before_it_has_its_name_and_its_name_after(
    output, tmp_path, monkeypatch, sync
):
    synced, fsync = [], os.fsync

    def noting(descriptor):
        synced.append((os.readlink(f"/proc/self/fd/{descriptor}"), output.names("folder")))  # noqa: PTH115
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    output.put(b"content", "folder", "name", sync=sync)
    out = str(tmp_path / "out")
    wanted = [
        (f"{out}/tmp/name.{os.getpid()}.partial", []),
        (f"{out}/folder", ["name"]),
        (out, ["name"]),
    ]
    assert synced == (wanted if sync else [])


def test_what_is_not_there_is_none_or_empty(output):
    assert (output.read("none"), output.names("none"), output.read_crawl()) == (None, [], None)
    output.remove("none")


def test_a_folder_that_another_shard_makes_meanwhile_is_listed(output, tmp_path):
    folder, over = tmp_path / "out" / "tmp", threading.Event()
    folder.parent.mkdir()

    def make_and_remove():
        while not over.is_set():
            folder.mkdir()
            folder.rmdir()

    other = threading.Thread(target=make_and_remove)
    other.start()
    try:
        # About one listing in fifty meets the moment between Arrow's failure and its question whether that was one.
        assert [output.names("tmp") for _ in range(3000)] == [[]] * 3000
    finally:
        over.set()
        other.join()


def test_removing(output):
    output.put(b"", "name", sync=False)
    output.remove("name")
    assert output.read("name") is None


@pytest.mark.parametrize("act", [
    lambda output: Output.open(output.path("file", "deeper")).put(b"", "name", sync=False),
    lambda output: output.names("file"),
    lambda output: output.read("folder"),
    lambda output: output.remove("folder"),
    lambda output: output.publish(output.path("none"), "name", sync=False),
])  # fmt: skip
def test_what_the_disk_refuses_is_one_line(tmp_path, act):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError) as caught:
        act(Output.open(str(tmp_path)))
    assert str(caught.value).startswith(str(tmp_path))
    assert "\n" not in str(caught.value)


# --- claiming ---------------------------------------------------------------------------------------------------


def test_a_new_output_is_recorded(output):
    record = claim(output)
    assert record == CrawlRecord(
        "one", 5.0, "1", VERSION, ("https://a.example/",), CONFIG.model_dump(mode="json")
    )
    assert output.read_crawl() == record


def test_a_claim_that_changes_nothing_writes_nothing(output, tmp_path):
    claim(output)
    before = (tmp_path / "out/crawl.json").stat().st_ino
    claim(output)
    assert (tmp_path / "out/crawl.json").stat().st_ino == before


def test_an_empty_directory_can_be_claimed(tmp_path):
    claim(Output.open(str(tmp_path)))
    assert (tmp_path / "crawl.json").exists()


def test_a_claim_that_was_killed_half_way_can_be_made_again(output):
    output.put(b"", "crawl.json", sync=False)
    output.remove("crawl.json")
    assert output.names() == ["tmp"]
    claim(output)


def test_the_same_crawl_goes_on_and_stays_itself(output):
    first = claim(output, seeds=["https://a.example/", "https://b.example/"])
    config = Config.model_validate({"politeness": {"delay": 3.0}, "user_agent": "other/1"})
    again = claim(
        output,
        seeds=["https://b.example/", "https://a.example/"],
        config=config,
        crawl_id="two",
        version="2",
        now=9.0,
    )
    assert (again.crawl_id, again.created, again.seeds) == (first.crawl_id, 5.0, first.seeds)
    assert (again.version, again.config["politeness"]["delay"]) == ("2", 3.0)
    assert output.read_crawl() == again


@pytest.mark.parametrize(("change", "words"), [
    ({"seeds": ["https://a.example/", "https://b.example/"]}, "seed https://b.example/ is only in this one"),
    ({"seeds": ["https://b.example/"]}, "seed https://a.example/ is only in that one"),
    ({"seeds": []}, "seed https://a.example/ is only in that one"),
    ({"config": Config.model_validate({"scope": {"mode": "host"}})}, "scope.mode is 'site' there and 'host' here"),
    ({"config": Config.model_validate({"url": {"sort_query": False}})}, "url.sort_query is True there and False here"),
])  # fmt: skip
def test_another_crawl_is_refused_and_nothing_is_touched(output, tmp_path, change, words):
    claim(output)
    before = everything(tmp_path)
    with pytest.raises(OutputError, match="another crawl") as caught:
        claim(output, **change)
    assert words in str(caught.value)
    assert everything(tmp_path) == before


def test_a_setting_that_is_younger_than_the_output_counts_as_its_default(output):
    first = claim(output)
    older = {**first.config, "scope": {"mode": "site"}}
    del older["url"]
    output.write_crawl(first._replace(config=older))
    assert claim(output).config == first.config


def test_settings_of_another_version_are_refused(output):
    first = claim(output)
    output.write_crawl(first._replace(config={**first.config, "scope": {"unknown": 1}}))
    with pytest.raises(OutputError, match="scope settings are not of this version"):
        claim(output)


@pytest.mark.parametrize(("step", "age"), [(1, "a newer"), (-1, "an older")])
def test_another_schema_is_refused(output, step, age):
    output.write_crawl(claim(output)._replace(schema=VERSION + step))
    with pytest.raises(OutputError, match=f"{age} version"):
        claim(output)


def test_a_directory_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.doc").write_bytes(b"years")
    before = everything(tmp_path)
    with pytest.raises(OutputError, match=r"not empty.*thesis\.doc"):
        claim(Output.open(str(tmp_path)))
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    "text", [b"{", b"[]", b"{}", b"\xff", b'{"seeds": 3}', b'{"seeds": [], "more": 1}',
             *(b'{"crawl_id": "a", "created": 1, "version": "1", "schema": %s, "seeds": %s, "config": %s}' % parts
               for parts in ((b'"2"', b"[]", b"{}"), (b"2", b"[5]", b"{}"), (b"2", b"[]", b"[]")))]
)  # fmt: skip
def test_a_record_that_is_none_is_refused(output, text):
    output.put(text, "crawl.json", sync=False)
    with pytest.raises(OutputError, match="not the record of a crawl"):
        claim(output)


def test_success_is_said_and_taken_back(output):
    output.mark_success({"rows": 3})
    assert json.loads(output.read("_SUCCESS")) == {"rows": 3}
    output.clear_success()
    assert output.read("_SUCCESS") is None
    output.clear_success()


def test_the_file_system_is_a_local_one(output):
    assert isinstance(output.filesystem, pafs.LocalFileSystem)


def test_of_two_crawls_that_begin_at_once_the_second_is_told(output):
    records = [
        output.judge([seed], Config(), crawl_id=seed, version="0", now=0.0)
        for seed in ("https://example.org/", "https://example.net/")
    ]
    output.claim(records[0])
    with pytest.raises(OutputError, match="another crawl has just begun here"):
        output.claim(records[1])
    assert output.read_crawl() == records[0]
