"""The printed results, checked against the tables they were taken from."""

import csv
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from importlib.resources import files

import pytest

from sentprobe.published import (
    OTHER,
    TRAINING,
    TRANSFER,
    WORDS,
    XNLI_CORPUS,
    PublishedRow,
    human,
    papers,
    published,
    rows_of,
)
from sentprobe.tasks import PAPERS, SUITES

KINDS = {"transfer": TRANSFER, "words": WORDS, "training": TRAINING, "xnli": XNLI_CORPUS, "other": OTHER, **SUITES}
COUNTED = ("mean tokens", "image median rank", "caption median rank", "perplexity", "mean distance")
"""Metrics that are not shares of one."""


def every():
    names = {task for suite in SUITES.values() for task in suite} | {*TRANSFER, *WORDS, *TRAINING, *XNLI_CORPUS, *OTHER}
    return [row for name in sorted(names) for row in published(name)]


# Read by eye in a transcription of each paper's tables, not by the program that made rows.csv from it. What is printed
# per hundred is divided by 100 here; X-Probe's numbers, correlations in table 3.7 and ranks are as printed.
CELLS = [
    # Conneau et al. (2018), table 2
    ("conneau2018", "2", "Length", "en", "sentence_length", "accuracy", 1.0),
    ("conneau2018", "2", "NB-uni-tfidf", "en", "word_content", "accuracy", 0.978),
    ("conneau2018", "2", "NB-bi-tfidf", "en", "bigram_shift", "accuracy", 0.638),
    ("conneau2018", "2", "Majority vote", "en", "tree_depth", "accuracy", 0.179),
    ("conneau2018", "2", "BoV-fastText", "en", "odd_man_out", "accuracy", 0.542),
    ("conneau2018", "2", "BiLSTM-last AutoEncoder", "en", "sentence_length", "accuracy", 0.993),
    ("conneau2018", "2", "BiLSTM-max Seq2Tree", "en", "obj_number", "accuracy", 0.951),
    ("conneau2018", "2", "GatedConvNet NLI", "en", "coordination_inversion", "accuracy", 0.710),
    # tables 3, 4 and 5 of the same
    ("conneau2018", "3", "BiLSTM-max NLI", "en", "SNLI", "accuracy", 0.853),
    ("conneau2018", "4", "BiLSTM-max NMT En-Fr", "en", "tree_depth", "accuracy", 0.457),
    ("conneau2018", "4", "GatedConvNet Untrained", "en", "coordination_inversion", "accuracy", 0.591),
    ("conneau2018", "5", "Chance", "en", "TREC", "accuracy", 0.212),
    ("conneau2018", "5", "BiLSTM-max NLI", "en", "STSBenchmark", "pearson", 0.766),
    ("conneau2018", "5", "MultiTask (other)", "en", "MR", "accuracy", 0.824),
    # Krasnowska-Kieraś and Wróblewska (2019), table 1
    ("universal2019", "1", "LASER", "pl", "sentence_type", "accuracy", 0.9839),
    ("universal2019", "1", "COMBO_mean", "en", "top_dependencies", "accuracy", 0.9387),
    ("universal2019", "1", "USE", "en", "SICKRelatedness", "spearman", 0.808),
    ("universal2019", "1", "BERT_mean", "pl", "CDSEntailment", "accuracy", 0.839),
    # Ravishankar et al. (2019), tables 3 and 4
    ("xprobe2019", "3", "Attention (last), MultiUN", "fr", "XNLI", "accuracy", 0.66),
    ("xprobe2019", "4", "RNN (maxpool)", "fr", "word_content", "accuracy", 0.31),
    ("xprobe2019", "4", "CNN (avg. pool)", "ru", "tree_depth", "accuracy", 0.24),
    # Adi et al. (2017), table 1 and the running text
    ("adi2017", "1", "skip-thought", "en", "word_presence", "accuracy", 0.797),
    ("adi2017", "1", "skip-thought, permuted", "en", "word_order", "accuracy", 0.765),
    ("adi2017", "text", "Majority vote", "en", "sentence_length", "accuracy", 0.201),
    # the training tasks, table 1 of X-Probe, and numbers in running text
    ("conneau2018", "3", "BiLSTM-Att", "en-fr", "translate", "bleu", 0.391),
    ("conneau2018", "3", "Gated ConvNet", "en-fi", "translate", "bleu", 0.142),
    ("conneau2018", "3", "BiLSTM-last", "en", "tree", "accuracy", 0.552),
    ("conneau2018", "text", "Majority of the sentence", "en", "subj_number", "target redundancy", 0.759),
    ("xprobe2019", "1", "All encoders and languages", "all", "sentence_length", "accuracy deviation", 0.259),
    ("xprobe2019", "1", "All encoders and languages", "all", "word_content", "mean accuracy", 0.152),
    ("adi2017", "text", "ED-1000, permuted", "en", "autoencode", "bleu", 0.082),
    ("conneau2019", "text", "BiLSTM-Max (on SST)", "en", "MR", "accuracy", 0.834),
    ("conneau2019", "text", "Adv - Refine", "eo-en", "word_translation", "precision@5", 0.439),
    ("conneau2019", "text", "Bilingual annotators", "fr", "xnli_agreement", "agreement", 0.83),
    ("conneau2019", "4.8", "Premise", "vi", "xnli_tokens", "mean tokens", 27.6),
    ("conneau2019", "4.8", "Hypothesis", "tr", "xnli_tokens", "mean tokens", 8.4),
    ("conneau2019", "4.9", "Internal translation system", "en-ar", "xnli_translation", "bleu", 0.158),
    ("conneau2019", "4.9", "Internal translation system", "ur-en", "xnli_translation", "bleu", 0.244),
    ("conneau2019", "4.11", "X-BiLSTM-max, frozen words, λ = 0.25", "zh", "XNLI", "dev accuracy", 0.677),
    # Conneau (2019), tables 3.3 to 3.8, 4.1 to 4.5, 4.10 and 4.12
    ("conneau2019", "3.3", "fastText MLP", "en", "SST2", "accuracy", 0.84),
    ("conneau2019", "3.4", "GloVe BoW", "en", "STS16", "pearson", 0.514),
    ("conneau2019", "3.6", "BiLSTM-Max", "en", "SNLI", "accuracy", 0.845),
    ("conneau2019", "3.7", "BiLSTM-Max (on AllNLI)", "en", "MRPC", "f1", 0.831),
    ("conneau2019", "3.7", "BiLSTM-Max (on SNLI)", "en", "SICKRelatedness", "pearson", 0.885),
    ("conneau2019", "3.8", "BiLSTM-Max (on SNLI), ResNet101 (113k)", "en", "ImageCaptionRetrieval",
     "image recall@1", 0.332),
    ("conneau2019", "3.8", "Order-embeddings", "en", "ImageCaptionRetrieval", "caption median rank", 2.0),
    ("conneau2019", "4.1", "Procrustes - CSLS", "en-fr", "word_translation", "precision@1", 0.811),
    ("conneau2019", "4.1", "Adv - NN", "zh-en", "word_translation", "precision@1", 0.223),
    ("conneau2019", "4.1", "Adv - Refine - CSLS", "eo-en", "word_translation", "precision@1", 0.256),
    ("conneau2019", "4.2", "Procrustes - CSLS (Wiki)", "en-it", "word_translation", "precision@1", 0.637),
    ("conneau2019", "4.2", "Smith et al., 2017 (WaCky)", "it-en", "word_translation", "precision@10", 0.636),
    ("conneau2019", "4.3", "Adv - Refine - CSLS", "it-en", "sentence_retrieval", "precision@5", 0.797),
    ("conneau2019", "4.4", "NASARI", "en-de", "word_similarity", "pearson", 0.6),
    ("conneau2019", "4.5", "Dictionary - CSLS", "eo-en", "word_by_word", "bleu", 0.143),
    ("conneau2019", "4.10", "BiLSTM-max, translate-test", "sw", "XNLI", "accuracy", 0.618),
    ("conneau2019", "4.12", "XLM (MLM+TLM)", "ur", "XNLI", "accuracy", 0.673),
    # p-values and ranges of Adi et al. (2017), and what findings are about besides
    ("adi2017", "2", "ED-100 vs. CBOW-100", "en", "sentence_length", "p-value", 1.77e-147),
    ("adi2017", "3", "ED-500 vs. ED-750", "en", "word_order", "p-value", 0.11),
    ("adi2017", "4", "CBOW-750 vs. CBOW-1000", "en", "word_presence", "p-value", 0.3),
    ("adi2017", "text", "CBOW", "en", "sentence_length", "highest accuracy", 0.65),
    ("conneau2019", "3.6", "BiLSTM-Max", "en", "aggregate", "micro dev accuracy", 0.852),
    ("conneau2019", "4.13", "encoder MLM, decoder MLM", "de-en", "unsupervised_translation", "bleu", 0.343),
    ("conneau2019", "4.14", "MLM, both directions", "ro-en", "supervised_translation", "bleu", 0.356),
    ("conneau2019", "4.15", "Nepali + Hindi", "ne", "language_model", "perplexity", 115.6),
    ("conneau2019", "4.16", "Concat", "all", "word_vectors", "mean distance", 4.89),
]  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]}-{cell[1]}-{cell[2]}-{cell[4]}")
def test_a_cell_is_as_printed(cell):
    paper, table, model, language, task, metric, value = cell
    found = [
        row.value
        for row in published(task, language=language)
        if (row.paper, row.table, row.model, row.metric) == (paper, table, model, metric)
    ]
    assert found == [value]


def test_every_row_is_of_a_task_that_there_is():
    for row in every():
        assert row.task in KINDS[row.suite], row
    with files("sentprobe.published").joinpath("rows.csv").open("r", encoding="utf-8") as lines:
        assert len(every()) == sum(1 for _ in csv.DictReader(lines))  # none is lost for a name that nothing asks for


def test_no_result_is_listed_twice():
    places = [(r.paper, r.table, r.model, r.language, r.task, r.metric) for r in every()]
    assert len(places) == len(set(places))


def test_numbers_are_shares_of_one_and_ranks_are_ranks():
    for row in every():
        assert row.value >= 1 if row.metric in COUNTED else 0 <= row.value <= 1, row


# Cells of each table: rows times columns, less the dashes, counted in the same transcription.
COUNTS = {
    ("conneau2018", "2"): 30 * 10,
    ("conneau2018", "3"): 4 * 5 - 1,  # the column NLI has one dash
    ("conneau2018", "4"): 30 * 10,
    ("conneau2018", "5"): 29 * 11 - 2,
    ("universal2019", "1"): 10 * 12 + 8 * 12,  # two models are English only
    ("xprobe2019", "1"): 9 * 2,
    ("xprobe2019", "3"): 6 * 6,
    ("xprobe2019", "4"): 36 * 9,
    ("adi2017", "1"): 2 * 3,
    ("adi2017", "2"): 5 * 3,
    ("adi2017", "3"): 4 * 3,
    ("adi2017", "4"): 4 * 3,
    ("conneau2019", "3.6"): 7 * 3,
    ("conneau2019", "4.1"): 7 * 12,
    ("conneau2019", "4.2"): 9 * 6 - 5,  # of the row Procrustes - CSLS (Wiki), only P@1 is known, from the running text
    ("conneau2019", "4.3"): 7 * 6,
    ("conneau2019", "4.4"): 4 * 3,
    ("conneau2019", "4.5"): 2 * 2,
    ("conneau2019", "4.8"): 2 * 15,
    ("conneau2019", "4.9"): 2 * 14,  # without the row of word translation
    ("conneau2019", "4.10"): 7 * 15,
    ("conneau2019", "4.11"): 4 * 3 - 2,  # two cells are illegible
    ("conneau2019", "4.12"): 6 * 15 + 3 * 6,  # three rows have six languages only
    ("conneau2019", "4.13"): 13 * 6,
    ("conneau2019", "4.14"): 3 * 3 + 1,
    ("conneau2019", "4.15"): 4,
    ("conneau2019", "4.16"): 3 * 3,
}


def test_whole_tables_are_there():
    found = {place: sum((row.paper, row.table) == place for row in every()) for place in COUNTS}
    assert found == COUNTS


def test_means_of_x_probe_are_those_of_its_own_table():
    # table 1 was computed from more digits than table 4 has, which are two
    for task in SUITES["xprobe2019"]:
        values = [row.value for row in published(task, suite="xprobe2019") if row.metric == "accuracy"]
        printed = {row.metric: row.value for row in published(task, suite="xprobe2019", language="all")}
        assert len(values) == 36
        assert sum(values) / 36 == pytest.approx(printed["mean accuracy"], abs=0.006)


def test_every_table_is_listed_with_its_numbers_or_a_reason():
    for key, paper in papers().items():
        for table in paper.tables:
            assert rows_of(key, table), (key, table)
        for table, reason in paper.left_out.items():
            assert len(reason) > 20
            assert table in ("text", "figures") or not rows_of(key, table), (key, table)
    assert {row.paper for row in every()} == set(papers())


def test_every_task_of_a_probing_suite_has_rows_of_its_paper():
    for suite, tasks in SUITES.items():
        for task in tasks:
            assert any(row.paper == suite for row in published(task, suite=suite)), f"{suite}/{task}"


def test_people_are_known_for_the_ten_tasks_of_conneau2018_only():
    bounds = {task: human(task, "conneau2018") for task in SUITES["conneau2018"]}
    # the row Hum. Eval. of table 2, in the order of the suite
    printed = [1.0, 1.0, 0.84, 0.84, 0.98, 0.85, 0.88, 0.865, 0.812, 0.85]
    assert [row.value for row in bounds.values() if row] == printed
    assert human("odd_man_out", "xprobe2019") is None
    assert human("passive", "universal2019") is None


def test_suite_and_language_narrow_the_rows_down():
    both = published("past_present", suite="universal2019")
    polish = published("past_present", suite="universal2019", language="pl")
    assert {row.language for row in both} == {"en", "pl"}
    assert polish == [row for row in both if row.language == "pl"]
    assert {row.suite for row in published("past_present")} == {"conneau2018", "universal2019", "xprobe2019"}


def test_a_task_of_ones_own_has_no_rows():
    assert published("my_task") == []
    assert human("my_task", "conneau2018") is None


def test_the_baselines_of_a_paper_are_distinguished_from_its_models():
    kinds = {row.model: row.kind for row in published("word_content", suite="conneau2018")}
    assert [model for model, kind in kinds.items() if kind == "baseline"] == [
        "Majority vote", "Length", "NB-uni-tfidf", "NB-bi-tfidf", "BoV-fastText",
    ]  # fmt: skip
    assert kinds["Hum. Eval."] == "human"
    assert {row.kind for row in published("TREC")} == {"model", "baseline", "bound"}


def test_every_row_has_a_reference_and_every_table_named_has_rows():
    found = papers()
    assert {row.paper for row in every()} == set(found)
    assert {(row.paper, row.table) for row in every()} == {(key, t) for key, p in found.items() for t in p.tables}
    for paper in found.values():
        assert paper.authors
        assert paper.title
        assert paper.venue
        assert 2017 <= paper.year <= 2019
        assert paper.url.startswith("https://")


def test_the_papers_of_the_suites_go_by_the_suites_names():
    assert set(PAPERS) <= set(papers())
    for key, reference in PAPERS.items():
        assert papers()[key].authors[0].split()[-1] in reference
        assert str(papers()[key].year) in reference


def test_a_row_cannot_be_altered():
    with pytest.raises(FrozenInstanceError):
        published("word_content")[0].value = 1.0
    assert isinstance(published("word_content")[0], PublishedRow)


def test_nothing_is_read_before_it_is_needed():
    code = (
        "import sys, sentprobe.published as p\n"
        "before = p._rows.cache_info().currsize\n"
        "p.published('MR')\n"
        "print(before, p._rows.cache_info().currsize, 'numpy' in sys.modules, 'pandas' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["0", "1", "False", "False"]


def test_rows_of_word_spaces_are_of_pairs_of_languages_and_say_how_neighbours_were_scored():
    rows = [row for row in every() if row.suite == "words"]
    assert all(re.fullmatch(r"[a-z]{2}-[a-z]{2}", row.language) for row in rows)
    for row in rows:
        named = re.search(r" - (NN|ISF|CSLS)\b", row.model)
        assert row.note == (named[1].lower() if named else ""), row
