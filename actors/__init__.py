"""The crawl on Ray: who owns what, who talks to whom, and what happens when somebody dies.

`ring`, `plan`, `outbox`, `pipeline`, `shard`, `writer`, `directory` and the functions of `tasks` are plain Python;
`ray.remote` and every other Ray call is in `remote` and `crawl`, so that the same classes run in one process in tests.
"""
