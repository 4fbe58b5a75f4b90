"""Results that leave and come in: files for other labs, a leaderboard of them, and MTEB's tasks and results."""
