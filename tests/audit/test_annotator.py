"""What is known of an annotator's labels: measured errors, class by class, and a second opinion by form."""

from dataclasses import replace

import pytest

from sentprobe.audit import audit_set
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import expectations_for
from sentprobe.errors import DataError
from sentprobe.tasks import Example, load_task


def made(task, targets, language="fr", **manifest):
    """A set with one row per (label, target); the target is the marked token."""
    rows = {split: [] for split in ("tr", "va", "te")}
    for i, (label, target) in enumerate(targets):
        tokens = (f"Mot{i}", target, "ici", ".")
        rows[("tr", "va", "te")[i % 3]].append(Example(label, tokens, " ".join(tokens), f"s{i}", target, "", (1,)))
    labels = load_task(task).labels
    return Dataset(f"x/{task}", task, 2, language, labels, rows, manifest)


def findings(dataset, *codes):
    return {f.code: f for f in audit_set(dataset).findings if f.code in codes}


@pytest.mark.parametrize("form", ["mesurait", "Étaient", "finissais", "faisait", "venait", "avait", "connaissaient"])
def test_an_imperfect_is_no_present(form):
    assert any(load_task("past_present").doubts([Example("PRES", (form,), form, marks=(0,))], "fr"))


@pytest.mark.parametrize(
    ("label", "form", "language"),
    [
        *(("PRES", form, "fr") for form in
          ("fait", "sais", "vais", "plait", "connait", "paraît", "naît", "paient", "essaient", "extrait", "hait", "va",
           "distraient", "satisfait", "disparait", "étudions")),
        ("PAST", "mesurait", "fr"), ("PRES", "mesurait", "en"), ("PRES", "wait", "en"),
    ],
)  # fmt: skip
def test_a_present_is_one(label, form, language):
    assert load_task("past_present").doubts([Example(label, (form,), form, marks=(0,))], language) == [""]


@pytest.mark.parametrize("form", ["né", "nées", "venus", "devenue", "mort", "restée", "partis", "décédé", "parvenu"])
def test_a_verb_without_an_object_has_no_passive(form):
    assert any(load_task("passive").doubts([Example("1", (form,), form, marks=(0,))], "fr"))


@pytest.mark.parametrize(
    ("label", "form"),
    [("1", "monté"), ("1", "prévenu"), ("1", "réparti"), ("1", "convenu"), ("1", "donné"), ("0", "né")],
)  # fmt: skip
def test_other_participles_may_be_passive(label, form):
    assert load_task("passive").doubts([Example(label, (form,), form, marks=(0,))], "fr") == [""]


def test_forms_that_speak_against_their_label_are_a_finding():
    targets = [("PRES", f"mot{i}e") for i in range(57)] + [("PAST", f"mot{i}a") for i in range(60)]
    found = findings(made("past_present", [*targets, ("PRES", "mesurait"), ("PRES", "étaient")]), "doubtful-forms")
    assert found["doubtful-forms"].severity == "warning"
    assert found["doubtful-forms"].count == 2
    assert "2 of 59 rows labelled PRES have the form of an imperfect (3.4 %)" in found["doubtful-forms"].message
    assert not findings(made("past_present", targets), "doubtful-forms")


ERRORS = {
    "treebank": "fr_x-ud-test",
    "sentences": 1000,
    "labels": {"0": {"sentences": 300, "other": 1, "none": 8}, "1": {"sentences": 200, "other": 18, "none": 22}},
}
TARGETS = [(label, f"form{label}{i}") for label in "01" for i in range(60)]


def test_measured_errors_are_shown_by_class():
    (found,) = findings(made("passive", TARGETS, label_errors=ERRORS), "label-errors").values()
    assert found.severity == "warning"
    assert found.message == (
        "gold has another label for 9.0 % and none for 11.0 % of 200 labelled 1; 0.3 % and 2.7 % of 300 labelled 0: "
        "fr_x-ud-test (1,000 sentences)"
    )
    assert (found.count, found.evidence["1: other label"], found.evidence["0: no label"]) == (19, 18, 8)
    # few errors, and alike in both classes
    few = {**ERRORS, "labels": {label: {"sentences": 300, "other": 1, "none": 8} for label in "01"}}
    (found,) = findings(made("passive", TARGETS, label_errors=few), "label-errors").values()
    assert found.severity == "note"
    # no wrong label, but one class has many sentences that should have none
    uneven = {**ERRORS, "labels": {**few["labels"], "1": {"sentences": 200, "other": 0, "none": 40}}}
    (found,) = findings(made("passive", TARGETS, label_errors=uneven), "label-errors").values()
    assert found.severity == "warning"


def test_errors_that_were_not_measured_are_said_to_be_unknown():
    unknown = made("passive", TARGETS, label_errors="not measured (spacy:fr_core_news_sm)")
    (found,) = findings(unknown, "label-errors", "label-errors-not-measured").values()
    assert (found.code, found.severity) == ("label-errors-not-measured", "note")
    assert "spacy:fr_core_news_sm" in found.message
    none = made("passive", TARGETS, label_errors={**ERRORS, "labels": {}})
    assert set(findings(none, "label-errors", "label-errors-not-measured")) == {"label-errors-not-measured"}
    assert not findings(made("passive", TARGETS), "label-errors", "label-errors-not-measured")


@pytest.mark.parametrize("bad", [[], 3, {"labels": []}, {"labels": {"1": 3}}, {"labels": {"1": {"other": "x"}}}])
def test_altered_errors_are_refused(bad):
    with pytest.raises(DataError, match="label_errors are not as made"):
        expectations_for(replace(made("passive", TARGETS), manifest={"label_errors": bad}))
