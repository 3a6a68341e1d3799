"""What people run: each module is a command, `python -m jobs.X` and `raycrawl X`."""
