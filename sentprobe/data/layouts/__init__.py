"""Transfer sets: which files are where, what a line of each holds, and what is known about the set.

``catalogue`` is the list; ``read`` recognises a set in a folder and reads it as a ``Dataset``.
"""

from sentprobe.data.layouts.catalogue import LAYOUTS, TransferLayout
from sentprobe.data.layouts.read import languages_of, layouts_in, locate, read_layout, scan

__all__ = ["LAYOUTS", "TransferLayout", "languages_of", "layouts_in", "locate", "read_layout", "scan"]
