"""Transfer sets: which files are where, what a line of each holds, and what is known about the set.

``catalogue`` is the list; ``find`` recognises the set in a folder; ``read`` reads it as a ``Dataset``.
"""

from sonde.data.layouts.catalogue import LAYOUTS
from sonde.data.layouts.find import languages_of, layouts_in, locate
from sonde.data.layouts.layout import Layout
from sonde.data.layouts.read import read_layout, scan

__all__ = ["LAYOUTS", "Layout", "languages_of", "layouts_in", "locate", "read_layout", "scan"]
