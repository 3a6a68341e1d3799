"""What a shard knows: per-host queues, the seen-set, host records; and who may be asked for what, when.

A URL is *unknown*, then *queued*, then *leased*, then *settled*; a settled one may be queued again for its next visit.
"""
