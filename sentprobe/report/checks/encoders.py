"""Checks of the encoders themselves, from what was observed when they were run."""

from __future__ import annotations

from collections.abc import Container, Iterable

from sentprobe.report.check import Check, CheckFinding
from sentprobe.report.types import EncoderDiagnosis, Summary

BROKEN_SYMPTOMS = {
    "equal-vectors": "identical vectors for different texts",
    "zero-vectors": "all-zero vectors",
    "large-values": "values that overflow",
    "random-vectors": "different vectors each time",
    "batch-dependent": "vectors that depend on the batch",
    "order-dependent": "vectors that depend on the order of the batch",
}
"""Symptoms with which a score says nothing about what an encoder captures."""
UNKNOWN_WORDS = "words without a vector"
PARTIAL_SYMPTOMS = ("dead-layers", "constant-columns")


def broken_encoders(diagnoses: Iterable[EncoderDiagnosis]) -> dict[str, str]:
    """What is wrong with the encoders whose scores say nothing about what they capture, by name, in a few words."""
    symptoms = {**BROKEN_SYMPTOMS, "unknown-tokens": UNKNOWN_WORDS}
    wrong = {d.name: [symptoms[s.code] for s in d.symptoms if s.code in symptoms] for d in diagnoses}
    return {name: ", ".join(dict.fromkeys(reasons)) for name, reasons in wrong.items() if reasons}


def broken_encoder(summary: Summary) -> CheckFinding | None:
    """Encoders whose vectors cannot be what they should be."""
    seen = summary.diagnoses
    if not seen:
        return None
    wrong, flat = _where(summary, BROKEN_SYMPTOMS), _where(summary, PARTIAL_SYMPTOMS)
    if wrong:
        codes = [s.code for d in seen for s in d.symptoms if s.code in BROKEN_SYMPTOMS]
        kinds = ", ".join(BROKEN_SYMPTOMS[code] for code in dict.fromkeys(codes))
        text = (
            f"{_count(summary, BROKEN_SYMPTOMS)} of {len(seen)} encoders: {kinds}. Their scores say nothing about what "
            "they capture."
        )
        return CheckFinding("issue", "An encoder is dead or broken", text, wrong + flat)
    if flat:
        text = (
            f"{_count(summary, PARTIAL_SYMPTOMS)} of {len(seen)} encoders: some layers or dimensions are the same for "
            "all texts and tell a probe nothing. This happens when vectors are padded or truncated wrongly, or when "
            "the first token is pooled before any block has seen the others."
        )
        return CheckFinding("tip", "Some layers or dimensions are constant", text, flat)
    text = (
        f"{len(seen)} of {len(seen)} encoders: different texts have different vectors, which do not depend on the "
        "batch or on its order."
    )
    return CheckFinding("passed", "The encoders are sound", text)


def unknown_tokens(summary: Summary) -> CheckFinding | None:
    """Word vectors that lack many words of the sets."""
    where = _where(summary, ("unknown-tokens",))
    if not where:
        return None
    text = (
        f"{len(where)} of {len(summary.diagnoses)} encoders: more than 5 % of the running tokens have no word vector, "
        "and are skipped."
    )
    return CheckFinding("issue", "Many tokens have no word vector", text, where)


def wrong_language(summary: Summary) -> CheckFinding | None:
    """Encoders that were not made for the language of a set."""
    where = _where(summary, ("wrong-language",))
    if not where:
        return None
    text = (
        f"{_count(summary, ('wrong-language',))} of {len(summary.diagnoses)} encoders: a score on a language that an "
        "encoder has hardly seen says what is left of it there, and not what encoders of its kind capture."
    )
    return CheckFinding("issue", "An encoder does not fit the language of a set", text, where)


def taken_on_trust(summary: Summary) -> CheckFinding | None:
    """Encoders that may change without a trace."""
    where = _where(summary, ("trust",))
    if not where:
        return None
    text = (
        f"{len(where)} of {len(summary.diagnoses)} encoders: it cannot be verified that they are the same from run to "
        "run. Stored vectors, and finished cells, may be from an earlier state."
    )
    return CheckFinding("tip", "Some identities are taken on trust", text, where)


def _where(summary: Summary, codes: Container[str]) -> list[str]:
    return [f"{d.name}: {s.message}" for d in summary.diagnoses for s in d.symptoms if s.code in codes]


def _count(summary: Summary, codes: Container[str]) -> int:
    return sum(any(s.code in codes for s in d.symptoms) for d in summary.diagnoses)


checks = (
    Check(
        name="broken-encoder",
        order=20,
        find=broken_encoder,
        advice="Look at a few vectors; `sentprobe check ENCODER` tests it rule by rule. Do not publish the scores.",
        doc="""
An issue where, on up to 2,000 texts spread evenly over the sets,

- more than 5 % of texts (and more than three) have the same vector as a text with other letters, as with a tokenizer
  to which all words are unknown. Bags of words do not see a bigram shift, so texts with the same letters and digits in
  any order, case and punctuation may share a vector. Two vectors are the same if they differ by less than 1e-5 of
  their norm. With fewer than eight dimensions, which are features such as a length, only if all texts share one;
- more than 5 % of vectors (and more than three) are all zeros;
- one of five texts has another vector alone, in another order of the batch or a second time: by more than 0.001 of its
  norm, 0.03 for models in half precision and servers. Where all vectors came from the store, they are not those that
  the encoder gives now.

A tip where dimensions are the same for all texts, or where the first two symptoms hold for some of several layers: in
layer 0, the first token is the same for all texts. The built-in baselines are not checked.
""",
    ),
    Check(
        name="unknown-tokens",
        order=30,
        find=unknown_tokens,
        advice="Use `tokenise=simple` for untokenised text; vectors of the right language; `case=lower` for vectors of "
        "lower-cased words.",
        doc="""
An issue where word vectors (`vec:`) lack more than 5 % of the running tokens of the sets: these words are skipped.
With the default `tokenise=space` a word and the full stop behind it are one token, which no vectors have.
""",
    ),
    Check(
        name="wrong-language",
        order=35,
        find=wrong_language,
        advice="Use a multilingual encoder, or one for this language: a model card that lists too few languages is not "
        "right, and an encoder of your own says them in `languages`.",
        doc="""
An issue where an encoder was not made for the language of a set. `static:`, `builtin:`, `infersent:` and `skipthought:`
are English, `use:` has 15 languages, `hf:` and `st:` those in the model's card, and `trained:` those that a language
model was trained on; your own encoder may have an attribute `languages`, such as `("en", "fr")`. Where nobody says
anything, an issue if 15 % of the running words of the test texts have no vector (`vec:`), or if 10 % of their pieces
are unknown to the tokenizer, or single bytes (`hf:`, `st:`). The run warns before it computes anything.
""",
    ),
    Check(
        name="taken-on-trust",
        order=180,
        find=taken_on_trust,
        advice="Give them a new `version=` with every change.",
        doc="""
A tip for encoders whose identity covers less than everything that can change a vector, as a change behind it goes
unnoticed: your own functions (`py:` with `version=`), identified by their version and source files, but not by data
that they read or packages that they use; and servers, identified by their address and the model's name.
""",
    ),
)
