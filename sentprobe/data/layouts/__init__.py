"""Transfer sets: which files are where, what a line of each holds, and what is known about the set.

``catalogue`` is the list; ``find`` recognises the set in a folder; ``read`` reads it as a ``Dataset``.
"""

from sentprobe.data.layouts.catalogue import LAYOUTS
from sentprobe.data.layouts.find import languages_of, layouts_in, locate
from sentprobe.data.layouts.layout import Layout
from sentprobe.data.layouts.read import read_layout, scan

__all__ = ["LAYOUTS", "Layout", "languages_of", "layouts_in", "locate", "read_layout", "scan"]
