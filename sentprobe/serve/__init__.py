"""A run as a page on this machine: it grows with the run, and its probes can be tried on your own sentences."""

from sentprobe.serve.server import Server

__all__ = ["Server"]
