"""A run as a page on this machine: it grows as the run does, and its probes can be tried on sentences of one's own."""

from sonde.serve.server import Server

__all__ = ["Server"]
