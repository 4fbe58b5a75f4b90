"""The same as ``http:`` with encryption: any server of embeddings, by its address.

    https://HOST[:PORT]/PATH[?model=…&batch=…&concurrency=…&prompt=…&truncate=…&dimensions=…&timeout=…&price=…
        &version=…&insecure=1]

No key is sent; servers that need one are for ``openai:``.
"""

from sentprobe.encoders.schemes.http import LOADS_AT_ONCE, OPTIONS, SENDS_TEXTS, load

__all__ = ["LOADS_AT_ONCE", "OPTIONS", "SENDS_TEXTS", "load"]
