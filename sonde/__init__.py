"""Ask a sentence encoder what it knows."""

__version__ = "0.1.0.dev0"
