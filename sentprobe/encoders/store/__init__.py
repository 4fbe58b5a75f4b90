"""Embeddings on disk that cannot lie: what is read is what was written for this encoder and this text, or nothing.

    root/<digest of the identity>/identity.json      the identity as text, for people
    root/<digest of the identity>/<unique>.shard     what one ``write`` wrote; never changed afterwards
    root/baselines/<digest>.result                   the result of a baseline on a set, which runs keep here

``shard`` has the format of a shard and how it is written, ``store`` what is done with many of them.
"""

from __future__ import annotations

from sentprobe.encoders.store.store import RESULT_SUFFIX, RESULTS_FOLDER, Store, StoreWarning, default_root

__all__ = ["RESULTS_FOLDER", "RESULT_SUFFIX", "Store", "StoreWarning", "default_root"]
