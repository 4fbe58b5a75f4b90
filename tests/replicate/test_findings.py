"""Every finding file is well-formed, and its published side is what the tables say."""

import csv
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from sentprobe.core.plugins import ROOT
from sentprobe.published import OTHER, TRAINING, TRANSFER, WORDS, papers, rows_of
from sentprobe.replicate import FINDINGS, PrintedResults, answer
from sentprobe.replicate.decide import OUTCOMES
from sentprobe.replicate.printed import sample_size
from sentprobe.tasks import TASKS
from sentprobe.testing import examine_finding

CLAIMS = FINDINGS.parts()
LEAST = {"conneau2018": 15, "universal2019": 8, "xprobe2019": 8, "adi2017": 10, "conneau2019": 15}
"""How many findings of each paper there are at least."""


@pytest.fixture(scope="module")
def answers():
    return {name: answer(claim, PrintedResults(claim.paper)) for name, claim in CLAIMS.items()}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_finding_is_well_formed(name):
    assert [verdict for verdict in examine_finding(CLAIMS[name]) if not verdict.passed] == []
    assert (ROOT / "replicate" / "findings" / f"{name}.py").exists()
    assert name.startswith(CLAIMS[name].paper)


def test_there_are_enough_of_each_paper_and_no_two_are_alike():
    counts = Counter(claim.paper for claim in CLAIMS.values())
    assert {paper: counts[paper] >= least for paper, least in LEAST.items()} == dict.fromkeys(LEAST, True)
    assert len({claim.sentence for claim in CLAIMS.values()}) == len(CLAIMS)
    assert len({repr(claim.statistic.__dict__ if hasattr(claim.statistic, "__dict__") else claim.statistic)
                for claim in CLAIMS.values()}) == len(CLAIMS)  # fmt: skip
    assert set(counts) == set(papers())


def test_every_answer_says_what_decided(answers):
    for name, result in answers.items():
        assert result.outcome in OUTCOMES
        if result.outcome == "not tried":
            assert result.reason.startswith("needs "), name
        else:
            assert result.rule, name
            assert 0 <= result.p <= 1
            assert 0 <= result.agreeing <= result.cells == len(result.tests)
            assert (result.outcome == "undecided") == bool(result.reason), name


# Recomputed by hand or by the program that section 7.1 of our specification reports on, from the same tables.
RECOMPUTED = {
    "conneau2018_nli_transfer": ("contradicted", 7, 11),  # not on SUBJ, MPQA, TREC and MRPC
    "conneau2018_seq2tree_above_people": ("contradicted", 12, 15),  # not on tree depth, of three encoders
    "conneau2018_odd_man_out_transfer": ("undecided", 7, 11),
    "conneau2018_word_content_transfer": ("held", 11, 11),
    "conneau2018_length_transfer": ("held", 10, 11),  # TREC +0.02
    "conneau2018_last_state_length": ("held", 7, 8),
    "xprobe2019_probing_against_xnli": ("contradicted", 2, 54),  # 52 of 54 are positive
    "xprobe2019_number_after_mapping": ("contradicted", 24, 60),  # 40 % are higher
    "xprobe2019_length_after_mapping": ("held", 24, 30),
    "universal2019_laser_best": ("undecided", 17, 22),
    "conneau2019_csls": ("undecided", 36, 36),
    "conneau2019_masked_above_causal": ("held", 6, 6),
    "adi2017_autoencoder_natural": ("undecided", 1, 1),
    "adi2017_models_differ": ("held", 15, 15),
}


@pytest.mark.parametrize("name", RECOMPUTED)
def test_verdicts_that_were_recomputed(answers, name):
    result = answers[name]
    assert (result.outcome, result.agreeing, result.cells) == RECOMPUTED[name]


def test_the_largest_correlation_of_odd_man_out_with_a_transfer_task(answers):
    values = [test.value for test in answers["conneau2018_odd_man_out_transfer"].tests]
    assert max(values) == pytest.approx(0.26, abs=0.005)  # the same specification, over the same 25 encoders


def test_every_task_that_a_finding_names_is_a_task():
    known = {*TASKS, *OTHER, *TRAINING, *TRANSFER, *WORDS}
    for claim in CLAIMS.values():
        for statistic in claim.parts:
            assert set(statistic.tasks) <= known, claim.name


def test_sample_sizes():
    sizes = {(row.task, row.metric): sample_size(row) for row in rows_of("conneau2018", "5")}
    assert (sizes["MR", "accuracy"], sizes["TREC", "accuracy"], sizes["STSBenchmark", "pearson"]) == (10_662, 500, 1379)
    people = {row.task: sample_size(row) for row in rows_of("conneau2018", "2") if row.kind == "human"}
    assert (people["odd_man_out"], people["past_present"]) == (1_000, 200)
    assert {sample_size(row) for row in rows_of("conneau2019", "4.13")} == {None}  # BLEU
    assert {sample_size(row) for row in rows_of("conneau2019", "4.10")} == {5_010}
    assert {sample_size(row) for row in rows_of("conneau2019", "4.11")} == {2_490}  # dev


TRANSCRIBED = os.environ.get("SENTPROBE_TRANSCRIBED", "")
"""A folder with the tables of the papers as they were transcribed: CSV with # lines above the header."""
WIDE = {
    "conneau2018_table2_probing_mlp": ("conneau2018", "2", 100),
    "conneau2018_table4_probing_logreg": ("conneau2018", "4", 100),
    "conneau2018_table5_downstream": ("conneau2018", "5", 100),
    "krasnowska2019_table1": ("universal2019", "1", 100),
    "xprobe_table3_xnli": ("xprobe2019", "3", 1),
    "xprobe_table4_probing": ("xprobe2019", "4", 1),
    "adi2017_table1_skipthought": ("adi2017", "1", 100),
    "adi2017_table2_pvalues_ed_vs_cbow": ("adi2017", "2", 1),
    "adi2017_table3_pvalues_ed_dims": ("adi2017", "3", 1),
    "adi2017_table4_pvalues_cbow_dims": ("adi2017", "4", 1),
    "thesis_table3_6_architectures": ("conneau2019", "3.6", 100),
    "thesis_table4_1_word_translation": ("conneau2019", "4.1", 100),
    "thesis_table3_3_transfer_baselines": ("conneau2019", "3.3", 100),
    "thesis_table3_4_sts": ("conneau2019", "3.4", 100),
    "thesis_table4_3_en_it_sentence_retrieval": ("conneau2019", "4.3", 100),
    "thesis_table4_4_wordsim": ("conneau2019", "4.4", 1),
    "thesis_table4_5_esperanto_bleu": ("conneau2019", "4.5", 100),
    "conneau2018_table3_training_tasks": ("conneau2018", "3", 100),
    "thesis_table4_10_xnli": ("conneau2019", "4.10", 100),
    "thesis_table4_13_unsupervised_mt": ("conneau2019", "4.13", 100),
    "thesis_table4_14_supervised_mt": ("conneau2019", "4.14", 100),
    "thesis_table4_15_nepali_lm": ("conneau2019", "4.15", 1),
    "thesis_table4_16_word_embeddings": ("conneau2019", "4.16", 1),
}
"""By file: the paper, the table, and what its numbers are divided by."""
UNCOUNTED = {"dim", "ours", "NLI_dev"}
"""Columns of numbers that are no rows: sizes, and scores on dev."""


@pytest.mark.skipif(not TRANSCRIBED, reason="needs the transcribed tables: SENTPROBE_TRANSCRIBED=folder")
@pytest.mark.parametrize("name", WIDE)
def test_printed_numbers_are_those_of_the_transcribed_tables(name):
    """Row by row: as many times as a number is in the table, it is among the rows."""
    paper, table, divisor = WIDE[name]
    lines = (Path(TRANSCRIBED) / f"{name}.csv").read_text("utf-8").splitlines()
    transcribed = Counter()
    for line in csv.DictReader(line for line in lines if not line.startswith("#")):
        for column, text in line.items():
            with suppress(ValueError):
                if column not in UNCOUNTED:
                    transcribed[f"{float(text) / divisor:.10g}"] += 1
    assert Counter(f"{row.value:.10g}" for row in rows_of(paper, table)) == transcribed
