"""Other crawlers, set up to do the same work."""
