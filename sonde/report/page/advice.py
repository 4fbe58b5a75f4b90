"""What to do about each finding of the checks, for readers who have the page and not the documentation.

The sentences are those of docs/report-checks.md, which a test compares them with.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "failures": (
            "Read the error, mend its cause, and give the same command again; what is done is not done twice."
        ),
        "broken-encoder": (
            "Look at a few vectors; `sonde check ENCODER` tries it rule by rule. Do not publish the numbers."
        ),
        "unknown-tokens": (
            "`tokenise=simple` for texts as they are written; vectors of the right language; `case=lower` for vectors "
            "of lower-cased words."
        ),
        "leak-like": "`sonde audit` on the set, which lists the copies; remove them, or do not use the set.",
        "unsound-data": "`sonde audit` on the set; its codes say what each finding means.",
        "synthetic": "Make sets from a corpus.",
        "partial": "Give the command again without `--limit`.",
        "below-baseline": (
            "Do not say that the encoder knows what the task asks; words alone, or copies, explain the number "
            "as well."
        ),
        "chance": (
            "Take numbers at chance as \"not found by this probe from so many rows\"; look at the set where "
            "they are below."
        ),
        "not-apart": "Do not call one of them the best. `sonde compare` gives the difference with its interval.",
        "few-rows": "A larger test set. Half the difference takes four times the rows.",
        "many-comparisons": (
            "Trust a difference that many sets show; for a claim about one set, `sonde compare` adjusts two "
            "encoders over all sets."
        ),
        "mlp-gain": "Name the probe with the number, and compare encoders by one probe.",
        "dev-test-gap": "`sonde audit` on the set; look at lengths and labels by split.",
        "grid-edge": "A wider grid, as in `-p \"linear?l2=0.01,0.1,1,10,100\"`.",
        "wide-vectors": "More training rows, or encoders of one size.",
        "one-seed": (
            "`--seeds 5`, as many as Holmes (Waldis et al. 2024) takes; the report then shows means, and "
            "intervals over rows and seeds."
        ),
        "taken-on-trust": "Give them a new `version=` with every change.",
    }
)  # fmt: skip
