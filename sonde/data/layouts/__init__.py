"""The transfer sets of others: which files stand where, what a line of each holds, and what is known of the whole.

``catalogue`` is the list; ``find`` tells which set stands in a folder; ``read`` makes a ``Dataset`` of it.
"""

from sonde.data.layouts.catalogue import LAYOUTS
from sonde.data.layouts.find import languages_of, layouts_in, locate
from sonde.data.layouts.layout import Layout
from sonde.data.layouts.read import read_layout, scan

__all__ = ["LAYOUTS", "Layout", "languages_of", "layouts_in", "locate", "read_layout", "scan"]
