"""Training data in files: pairs, labelled sentences, trees and texts, in the layouts that they come in.

``find`` tells which files a source means and how each is read; ``read`` reads them. Everything is streamed: no reader
holds more than a few rows.
"""

from __future__ import annotations

from sentprobe.lab.training.reading.find import DEV, TRAIN, DataPart, find_parts, find_parts_named_dev
from sentprobe.lab.training.reading.read import DataRow, part_files, read_part, read_rows

__all__ = ["DEV", "TRAIN", "Part", "Row", "find_parts", "find_parts_named_dev", "part_files", "read_part", "read_rows"]
