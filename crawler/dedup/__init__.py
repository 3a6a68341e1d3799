"""When two pages are the same, or nearly: digests and SimHash."""
