"""URLs: how they are written, when two are the same, whose they are, which belong to the crawl.

===========  ==================================================================================
link         a URL that was found (in a page, a sitemap, a redirect, the seeds), with where
wire URL     what is sent to the server: the WHATWG serialisation without the fragment (`wire`)
normal form  the spelling that stands for all spellings of one URL; hashed, never fetched
             (`normal`)
key          64-bit hash of the normal form; what "seen before" means (`keys.url_key`)
host         hostname as WHATWG serialises it, without the port and the root's dot; IPv6 in brackets
             (`keys.host_of`)
site         registrable domain by the Public Suffix List, private section included
             (`keys.site_of`)
slot         mmh3(site) % 1024; the unit in which shards own sites (`keys.slot_of`)
===========  ==================================================================================

`scope` says which URLs belong to the crawl; `admit` puts it all together for the hot path. Nothing
here does I/O, keeps time, or knows who asks.
"""
