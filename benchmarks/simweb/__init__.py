"""A seeded simulated web: the judge of the crawler's tests and the load of its benchmarks.

It must not know the crawler: nothing here imports `crawler`, `actors` or `jobs`, so that a mistake made there is not
made here too. Reading order::

    options     what a world is told
    words       prose and names out of a seed
    rules       robots.txt as structured rules, and its text
    traps       URL spaces that never end
    hosts       hosts and pages as values
    filling     the pages of a host
    population  the hosts of a world
    identity    which spellings are one URL
    world       (options, port) → hosts, pages, links: pure
    html        a page and its links → bytes
    truth       the rows that a right crawl of a world must have
    answers     what the server says to one request
    server      asyncio, one listening socket per host, a log of every request
    log         the log, and what it proves
    judge       rows against the truth, requests against robots.txt
    running     a server as a child process, for tests
    tree        the same server over a directory of real files
"""
