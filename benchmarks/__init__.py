"""Measurements, each a script with a table; nothing here runs in the tests but the simulated web."""
