"""What robots may do: robots.txt (RFC 9309) and what pages say about themselves.

Pure: text in, decisions out. No I/O, no clock, and nothing of fetching, queues or rows.
"""
