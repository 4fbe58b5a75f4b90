"""Word vectors in files: word2vec text and binary, GloVe text, fastText .vec and .bin, recognised by their content.

A matrix in numpy's format, ``X.npy``, is read with the list of its words beside it, ``X.txt``, one per line.
All but fastText .bin and .npy may be compressed (.gz, .bz2, .xz, .zst).

What was read once is kept in a cache folder, as a file with a matrix in numpy's format, memory-mapped from then on,
followed by the words. It is named by a fingerprint of its source: size, times, inode, and the content, or of files
above 32 MiB the first and last MiB. All of it has checksums, the matrix row by row; a damaged file is
reported, deleted and rebuilt.

A word that occurs twice keeps its first vector. A word that was cut inside a character, as the original programs do
with long words, keeps its broken bytes as ``\\xe3``; no text contains it.
"""

from __future__ import annotations

from sentprobe.encoders.wordvectors.pooling import read_frequencies, sum_rows
from sentprobe.encoders.wordvectors.vectors import CacheWarning, WordVectors, read_vectors

__all__ = [
    "CacheWarning",
    "WordVectors",
    "read_frequencies",
    "read_vectors",
    "sum_rows",
]
