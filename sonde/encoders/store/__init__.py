"""Embeddings on disk that cannot lie: what is read is what was written for this encoder and this text, or nothing.

    root/<digest of the identity>/identity.json      the identity as text, for people
    root/<digest of the identity>/<unique>.shard     what one ``write`` wrote; never changed afterwards

``shard`` has the format of a shard, ``files`` how a file is written atomically.
"""

from __future__ import annotations

from sonde.encoders.store.store import Entry, Store, StoreWarning, default_root

__all__ = ["Entry", "Store", "StoreWarning", "default_root"]
