"""Checks of the encoders themselves, from what was seen when they were run."""

from __future__ import annotations

from collections.abc import Container

from sonde.report.checks.check_result import CheckResult, Summary, check_result

BROKEN_SYMPTOMS = {
    "equal-vectors": "different texts with equal vectors", "zero-vectors": "vectors of zeros",
    "random-vectors": "other vectors each time", "batch-dependent": "vectors that depend on the batch",
    "order-dependent": "vectors that depend on the order of the batch",
}  # fmt: skip
"""Symptoms with which a number says nothing about what an encoder knows."""
PARTIAL_SYMPTOMS = ("dead-layers", "constant-columns")


def broken_encoder(summary: Summary) -> CheckResult | None:
    """Encoders whose vectors cannot be what they are taken for."""
    seen = summary.get("diagnoses", ())
    if not seen:
        return None
    wrong, flat = _where(summary, BROKEN_SYMPTOMS), _where(summary, PARTIAL_SYMPTOMS)
    if wrong:
        codes = [s["code"] for d in seen for s in d["symptoms"] if s["code"] in BROKEN_SYMPTOMS]
        kinds = ", ".join(BROKEN_SYMPTOMS[code] for code in dict.fromkeys(codes))
        text = f"{_count(summary, BROKEN_SYMPTOMS)} of {len(seen)} encoders: {kinds}. Their numbers are not about "
        "what they know."
        return check_result("broken-encoder", "issue", "An encoder is dead or broken", text, wrong + flat)
    if flat:
        text = (
            f"{_count(summary, PARTIAL_SYMPTOMS)} of {len(seen)} encoders: some layers or columns are the same for "
            f"all texts and "
            "tell a probe nothing. Vectors that were padded or cut wrongly look like this, and a first token that is "
            "pooled before any block has read the others."
        )
        return check_result("broken-encoder", "tip", "Some layers or columns of vectors are constant", text, flat)
    text = (
        f"{len(seen)} of {len(seen)} encoders: different texts have different vectors, which do not depend on the "
        "batch or on its order."
    )
    return check_result("broken-encoder", "passed", "The encoders are sound", text)


def unknown_tokens(summary: Summary) -> CheckResult | None:
    """Word vectors that lack many words of the sets."""
    where = _where(summary, ("unknown-tokens",))
    if not where:
        return None
    text = (
        f"{len(where)} of {len(summary['diagnoses'])} encoders: more than 5 % of the running tokens have no word "
        "vector. Sentences are read without them."
    )
    return check_result("unknown-tokens", "issue", "Many tokens have no word vector", text, where)


def taken_on_trust(summary: Summary) -> CheckResult | None:
    """Encoders of which nobody can see whether they have changed."""
    where = _where(summary, ("trust",))
    if not where:
        return None
    text = (
        f"{len(where)} of {len(summary['diagnoses'])} encoders: that they are the same from run to run is partly "
        "somebody's word. Vectors that were kept, and cells that were done, may be of an earlier state of theirs."
    )
    return check_result("taken-on-trust", "tip", "Some identities are taken on trust", text, where)


def _where(summary: Summary, codes: Container[str]) -> list[str]:
    seen = summary.get("diagnoses", ())
    return [f"{d['name']}: {s['message']}" for d in seen for s in d["symptoms"] if s["code"] in codes]


def _count(summary: Summary, codes: Container[str]) -> int:
    return sum(any(s["code"] in codes for s in d["symptoms"]) for d in summary.get("diagnoses", ()))
