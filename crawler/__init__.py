"""Everything that knows crawling. Nothing here knows Ray, reads a clock, or draws a random number.

The layers, lowest first; a module imports only from layers below its own::

    errors  config  outcomes  url  robots  frontier  fetch  page  dedup  dataset
"""
