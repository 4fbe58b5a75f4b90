"""The same as ``http:`` with encryption: any server of embeddings, by its address.

https://HOST[:PORT]/PATH[?model=…&batch=…&concurrency=…&prompt=…&truncate=true&dimensions=…&timeout=…&price=…&version=…]
"""

from sentprobe.encoders.schemes.http import LOADS_AT_ONCE, OPTIONS, SENDS_TEXTS, load

__all__ = ["LOADS_AT_ONCE", "OPTIONS", "SENDS_TEXTS", "load"]
