"""What a run says, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sentprobe.core.formatting import count_of
from sentprobe.core.table import plain
from sentprobe.data.folds import ENOUGH_TEST_ROWS
from sentprobe.probes.baselines import BASELINE_TITLES
from sentprobe.report.checks.encoders import broken_encoders
from sentprobe.report.filters import restricted
from sentprobe.report.meaning import MEANINGS, MIN_DETECTABLE, SATURATED, judged_cell
from sentprobe.report.names import brief_set_names, listed, short_names
from sentprobe.report.rivals import (
    MAX_NAMED_SETS,
    column_noun,
    encoder_title,
    equality_sentences,
    leaders_sentence,
    pair_sentence,
    probe_of,
    rivals,
)
from sentprobe.report.types import BaselineComparison, CellSummary, Summary
from sentprobe.report.verdict import verdict_of
from sentprobe.results.metric import Metric, metric_named
from sentprobe.results.run_kinds.pairs import disjoint_sets
from sentprobe.stats import level as levels
from sentprobe.stats.level import alpha_text

MAX_CLAUSES = 4
"""Encoders, or groups of encoders that are better on the same sets, that get a clause of their own."""
NBSP = "\u00a0"
BETTER = "significantly better than the best baseline"


@dataclass(frozen=True)
class _Standing:
    """Columns with the same verdicts, by the numbers of the sets."""

    names: tuple[str, ...]
    above: tuple[int, ...]
    tested: tuple[int, ...]


def answer(summary: Summary) -> tuple[str, ...]:
    """What a run says, as one to six sentences of plain text; none if it has no results.

    The encoders against each other, against the baselines, what may have been missed, and what controls object. Broken
    encoders are named, and nothing else is said of them.
    """
    broken = broken_encoders(summary.diagnoses)
    working = [i for i, column in enumerate(summary.columns) if column.encoder not in broken]
    about = replace(
        restricted(summary, working, disjoint_sets([(s.task, s.name, s.n["te"]) for s in summary.sets])),
        hidden_columns=summary.hidden_columns,
        hidden_sets=summary.hidden_sets,
    )
    if len(working) == len(summary.columns):
        return _about_encoders(about, _pairs_tested(summary))
    return (*(_about_encoders(about, _pairs_tested(summary)) if working else ()), _broken(summary, broken))


def _pairs_tested(summary: Summary) -> int:
    """On how many sets two encoders are compared, over which their tests are adjusted."""
    return sum(s.pair is not None for s in summary.sets)


def _broken(summary: Summary, broken: Mapping[str, str]) -> str:
    """Which encoders are broken, and how."""
    names = dict.fromkeys(
        f"{encoder_title(column)} ({broken[column.encoder]})" for column in summary.columns if column.encoder in broken
    )
    is_are, its_their = ("is", "its") if len(names) == 1 else ("are", "their")
    return plain(f"{listed(list(names))} {is_are} broken: {its_their} scores say nothing, and are not counted here.")


def _about_encoders(accuracies: Summary, pairs_tested: int) -> tuple[str, ...]:
    summary = _judged(accuracies)
    sets = [i for i, s in enumerate(summary.sets) if any(cell is not None for cell in s.cells)]
    if not sets or not metric_named(summary.metric).compared:
        return ()
    compared = [i for i in sets if any(cell is not None and cell.against for cell in summary.sets[i].cells)]
    if not compared:
        return (_without_baselines(summary, sets), *_between_encoders(summary, pairs_tested))
    tested = [i for i in compared if any(_p(against) for against in _comparisons(summary, i))]
    if not tested:
        return (_untested(summary, compared),)
    who, nobody = _who(summary, tested), _nobody(summary, tested)
    return (
        *_between_encoders(summary, pairs_tested),
        who,
        *nobody,
        *_saturated(summary, tested),
        *_by_class(summary, tested),
        *missed_differences(summary, tested),
        *_explained_away(summary, tested),
    )


def answer_note(summary: Summary) -> str:
    """What the sentences rest on; empty where nothing was tested."""
    tested = [s for i, s in enumerate(summary.sets) if any(map(_p, _comparisons(summary, i)))]
    pairs = _pairs_tested(summary)
    between = f", between the two encoders adjusted by Holm over the {pairs} sets" if pairs > 1 else ""
    tests = f"Paired tests on the same test rows at {alpha_text(NBSP)}"
    if not tested:
        return f"{tests}{between}." if pairs else ""
    family = max((c.against.tests for s in tested for c in s.cells if c is not None and c.against), default=0)
    # Holm over one test changes nothing, and is not worth a clause
    within = f", adjusted by Holm over {family} tests, of all {summary.kind.noun}s and sets" if family > 1 else ""
    if between:
        within = f"{between}, against baselines over {family} tests, of all encoders and sets"
    untested = len(summary.sets) - len(tested)
    untested_note = (
        f" {count_of(untested, 'set')} without a test {'is' if untested == 1 else 'are'} not counted."
        if untested
        else ""
    )
    missing = " The missing results can change them." if summary.missing else ""
    return f"{tests}{within}.{missing}{untested_note}"


# With baselines


def _who(summary: Summary, tested: Sequence[int]) -> str:
    """Who is better than the best baseline, and on which sets."""
    standings = _standings(summary, tested)
    better = [standing for standing in standings if standing.above]
    names = [name for standing in standings for name in standing.names]
    if not better:
        any_set = "either set" if len(tested) == 2 else f"any of the {len(tested)} sets"
        any_set += _shown(summary.hidden_sets)
        one_set = f"{_set_name(summary, tested[0])} ({_best_baselines(summary, tested[0], set())})"
        where = any_set if len(tested) > 1 else one_set
        return plain(f"{_no_one(summary, names)} {BETTER} on {where}.")
    if len(tested) == 1:
        return _on_one_set(summary, tested[0], standings)
    first, *following = better[:MAX_CLAUSES]
    clauses = [f"{listed(first.names)} {_be(first)} {BETTER} on {_sets(summary, first, tested, full=True)}"]
    clauses += [f"{listed(standing.names)} on {_sets(summary, standing, tested)}" for standing in following]
    if unnamed := better[MAX_CLAUSES:]:
        most = max(len(standing.above) for standing in unnamed)
        clauses.append(f"{count_of(sum(len(standing.names) for standing in unnamed), 'other')} on at most {most}")
    if none := [name for standing in standings if not standing.above for name in standing.names]:
        clauses.append(f"{listed(none) if len(none) <= MAX_CLAUSES else f'the other {len(none)}'} on none")
    return plain("; ".join(clauses) + ".")


def _no_one(summary: Summary, names: Sequence[str]) -> str:
    """``Neither encoder is``: encoders are counted once, with however many probes they were run."""
    encoders = {column.name: (column.encoder, column.identity) for column in summary.columns}
    noun = column_noun(summary.columns, summary.kind.noun)
    count = len(set(encoders.values())) if noun == summary.kind.noun and summary.kind.trains_probes else len(names)
    filtered = _shown(summary.hidden_columns)
    if len(names) == 1:
        return f"{names[0]} is not"
    if count == 1:
        return f"{encoder_title(summary.columns[0])}{filtered} is not"
    of_encoder = f" of {encoder_title(summary.columns[0])}" if noun in ("probe", "layer") else ""
    return f"{f'Neither {noun}' if count == 2 else f'None of the {count} {noun}s'}{of_encoder}{filtered} is"


def _on_one_set(summary: Summary, set_index: int, standings: Sequence[_Standing]) -> str:
    above = [name for standing in standings if standing.above for name in standing.names]
    not_better = [name for standing in standings if not standing.above for name in standing.names]
    best = f"{BETTER} ({_best_baselines(summary, set_index, set())})"
    but = f"; {listed(not_better)} {'is' if len(not_better) == 1 else 'are'} not" if not_better else ""
    is_are = "is" if len(above) == 1 else "are"
    return plain(f"On {_set_name(summary, set_index)}, {listed(above)} {is_are} {best}{but}.")


def _nobody(summary: Summary, tested: Sequence[int]) -> list[str]:
    """Sets on which no one is better than the best baseline, and what that baseline scores there."""
    without_winner = [
        i
        for i in tested
        if not any(against.verdict == "above" for against in _comparisons(summary, i)) and not _is_saturated(summary, i)
    ]
    if not without_winner or len(without_winner) == len(tested):
        return []
    explained: set[str] = set()
    names = [f"{_set_name(summary, i)} ({_best_baselines(summary, i, explained)})" for i in without_winner]
    set_list = listed(names, most=MAX_NAMED_SETS, remainder="more sets")
    several = len([name for standing in _standings(summary, tested) for name in standing.names]) > 1
    noun = column_noun(summary.columns, summary.kind.noun)
    who = f"No {noun}{_shown(summary.hidden_columns)} is" if several else "It is not"
    return [plain(f"{who} significantly better on {set_list}.")]


def _judged(summary: Summary) -> Summary:
    """The summary with the scores that sets are judged by: balanced accuracy where a class is rare."""
    if not any(cell is not None and cell.balanced for s in summary.sets for cell in s.cells):
        return summary
    sets = [replace(s, cells=tuple(cell and judged_cell(cell) for cell in s.cells)) for s in summary.sets]
    return replace(summary, sets=tuple(sets))


def _by_class(summary: Summary, tested: Sequence[int]) -> list[str]:
    """Which sets are compared with baselines by balanced accuracy."""
    rare = [_set_name(summary, i) for i in tested if any(c is not None and c.balanced for c in summary.sets[i].cells)]
    if not rare:
        return []
    verb = "has a rare class, and is" if len(rare) == 1 else "have rare classes, and are"
    names = listed(rare, most=MAX_NAMED_SETS, remainder="more")
    return [plain(f"{names} {verb} compared with baselines by balanced accuracy here, and by accuracy in the table.")]


def _saturated(summary: Summary, tested: Sequence[int]) -> list[str]:
    """Sets on which the best baseline and all encoders make next to no mistakes, so that they tell nothing apart."""
    sentences = []
    for i in (i for i in tested if _is_saturated(summary, i)):
        count = sum(cell is not None for cell in summary.sets[i].cells)
        who = {1: "the encoder has", 2: "both encoders have"}.get(count, f"all {count} encoders have")
        alike = f"{who} at least {100 * SATURATED:g}, as {_best_baselines(summary, i, set())}"
        giveaway = f"; {word} gives it away" if (word := summary.sets[i].giveaway) else ""
        sentences.append(plain(f"{_set_name(summary, i)} cannot tell encoders apart: {alike}{giveaway}."))
    return sentences[:MAX_CLAUSES]


def _is_saturated(summary: Summary, set_index: int) -> bool:
    """Whether no score of a set is below what saturates it, and the best baseline is not, either."""
    scores = [cell.score.value or 0.0 for cell in summary.sets[set_index].cells if cell is not None]
    return min((against.value for against in _comparisons(summary, set_index)), default=0.0) >= SATURATED <= min(scores)


def _explained_away(summary: Summary, tested: Sequence[int]) -> list[str]:
    """Results above the baselines that controls or measures explain otherwise; nothing if none were run on them."""
    names = _column_names(summary)
    judged = [
        (f"{names[j]} on {_set_name(summary, i)}", meaning.kind)
        for i in tested
        for j, (cell, meaning) in enumerate(zip(summary.sets[i].cells, summary.sets[i].meanings, strict=False))
        if verdict_of(cell) == "above" and meaning is not None and meaning.kind != "above"
    ]
    if not judged:
        return []
    explained = [f"{where} ({MEANINGS[kind][1]})" for where, kind in judged if kind != "holds"]
    if not explained:
        which = "this result" if len(judged) == 1 else f"any of these {len(judged)} results"
        return [f"No control explains {which} away."]
    which = "this result" if len(judged) == 1 else f"{len(explained)} of these {len(judged)} results"
    explained_list = listed(explained, most=MAX_CLAUSES, remainder="more")
    return [plain(f"Controls explain {which} away: {explained_list}.")]


def _best_baselines(summary: Summary, set_index: int, explained: set[str]) -> str:
    """The best baseline with its score, and what it is where it is named first; several for different samples."""
    baselines = dict.fromkeys((against.baseline, against.value) for against in _comparisons(summary, set_index))
    texts = []
    for name, value in baselines:
        title = BASELINE_TITLES.get(name, "") if name not in explained else ""
        explained.add(name)
        number = _number(value, _metric(summary, set_index))
        texts.append(f"{name}, {title}: {number}" if title else f"{name} {number}")
    return ", ".join(texts)


def _standings(summary: Summary, tested: Sequence[int]) -> list[_Standing]:
    """Columns by how many sets they are better on, those with the same verdicts together; others are left out."""
    names = _column_names(summary)
    groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for number, name in enumerate(names):
        cells = {i: cell for i in tested if (cell := summary.sets[i].cells[number]) is not None}
        compared = {i: cell.against for i, cell in cells.items() if cell.against is not None and _p(cell.against)}
        if compared:
            above = tuple(i for i, against in compared.items() if against.verdict == "above")
            groups.setdefault((above, tuple(compared)), []).append(name)
    standings = [_Standing(tuple(group), above, compared) for (above, compared), group in groups.items()]
    return sorted(standings, key=lambda standing: -len(standing.above))


def _sets(summary: Summary, standing: _Standing, tested: Sequence[int], *, full: bool = False) -> str:
    """How many sets, and which: all of them, all but a few, or by name."""
    above, all_of = standing.above, standing.tested
    noun = f" sets{_shown(summary.hidden_sets)}" if full else ""
    missing = [i for i in all_of if i not in above]
    which = "its" if len(standing.names) == 1 else "their"
    of_tested = f"{which} {len(all_of)}" if len(all_of) < len(tested) else f"{len(all_of)}"
    if not missing:
        return _all_of(which, noun, all_of, tested) if len(all_of) > 1 else f"{of_tested} ({_names(summary, above)})"
    count = f"{len(above)} of {of_tested}{noun}"
    if len(above) <= MAX_NAMED_SETS:
        names = _names(summary, above)
        return f"{count}: {names}" if full else f"{count} ({names})"
    few = f", all but {_names(summary, missing)}" if len(missing) <= MAX_NAMED_SETS // 2 else ""
    return f"{count}{few}"


def _all_of(which: str, noun: str, all_of: Sequence[int], tested: Sequence[int]) -> str:
    """``all 5 sets``, ``both``, ``all of its 5``, ``both of its sets``."""
    number = "" if len(all_of) == 2 else f" {len(all_of)}"
    quantifier = "both" if len(all_of) == 2 else "all"
    return f"{quantifier} of {which}{number} sets" if len(all_of) < len(tested) else f"{quantifier}{number}{noun}"


# Without


def _without_baselines(summary: Summary, sets: Sequence[int]) -> str:
    if not summary.kind.trains_probes:
        who = count_of(len(summary.columns), summary.kind.noun)
        return f"{who} on {count_of(len(sets), 'set')}, for which there is no baseline."
    # the columns of one encoder may differ in the probe alone
    who = count_of(len({(column.encoder, column.identity) for column in summary.columns}), summary.kind.noun)
    return (
        f"{who} on {count_of(len(sets), 'set')}, without baselines: how much of a score is due to length, words or the "
        "most frequent label is not known."
    )


def _between_encoders(summary: Summary, pairs_tested: int) -> list[str]:
    """The encoders against each other: two by their paired tests, more by who is better than every other one."""
    compared = rivals(summary.columns)
    if not compared or (summary.hidden_columns and not any(s.pair for s in summary.sets)):
        return []
    filtered, before = _shown(summary.hidden_sets), probe_of(summary.columns, compared)
    # which the probe is said of already
    titles = short_names([summary.columns[j].label[0] for j in compared])
    names = dict(zip(compared, titles, strict=True)) if before else dict(enumerate(_column_names(summary)))
    if pairs := {i: s.pair for i, s in enumerate(summary.sets) if s.pair is not None}:
        first, second = (names[i] for i in (compared[0], compared[1]))
        verdicts = {_set_name(summary, i): pair.better for i, pair in pairs.items()}
        sentences = [before + pair_sentence(first, second, verdicts, filtered=filtered)]
        if summary.margin is not None:
            bounds = {
                _set_name(summary, i): (pair.worse_by, pair.better_by)
                for i, pair in pairs.items()
                if pair.better is None or max(pair.worse_by, pair.better_by) <= summary.margin
            }
            sentences += equality_sentences(first, second, bounds, summary.margin, pairs_tested)
        return sentences
    leads: dict[str, list[str]] = {}
    lettered = [i for i, s in enumerate(summary.sets) if s.letters_about is not None]
    for i in lettered:
        cells = {j: cell for j in compared if (cell := summary.sets[i].cells[j]) is not None and cell.letters}
        leader = _leader(cells, metric_named(summary.sets[i].scored_by))
        p_lead = summary.sets[i].p_lead
        if leader is not None and (p_lead is None or p_lead <= levels.ALPHA):  # the first by letters, one set alone
            leads.setdefault(names[leader], []).append(_set_name(summary, i))
    if not lettered or len(compared) < 3:
        return []
    return [before + leaders_sentence(leads, len(lettered), noun=summary.kind.noun, filtered=filtered)]


def _leader(cells: Mapping[int, CellSummary], metric: Metric) -> int | None:
    """The best of several columns, if it shares no letter with any of the others."""
    if len(cells) < 2:
        return None
    best = max(cells, key=lambda j: metric.gain(cells[j].score.value or 0.0, 0.0))
    letters = set(cells[best].letters or "")
    return best if all(letters.isdisjoint(cell.letters or "") for j, cell in cells.items() if j != best) else None


def _untested(summary: Summary, compared: Sequence[int]) -> str:
    """Where nothing is tested: how many scores are higher."""
    names = _column_names(summary)
    higher = {
        name: sum(
            cell.against.verdict == "untested"
            for i in compared
            if (cell := summary.sets[i].cells[j]) is not None and cell.against is not None
        )
        for j, name in enumerate(names)
    }
    clauses = [f"{name} on {count} of {count_of(len(compared), 'set')}" for name, count in higher.items() if count]
    if not clauses:
        return "No score is higher than that of the best baseline; no difference was tested."
    clause_list = listed(clauses, most=MAX_CLAUSES, remainder="more")
    return plain(f"Better than the best baseline, though no difference was tested: {clause_list}.")


# Words


def _comparisons(summary: Summary, set_index: int) -> list[BaselineComparison]:
    return [cell.against for cell in summary.sets[set_index].cells if cell is not None and cell.against is not None]


def _p(against: BaselineComparison) -> bool:
    """Whether a difference was tested."""
    return against.p is not None


def _shown(hidden: int) -> str:
    """Which sets or encoders are meant, where a filter left some out."""
    return " shown" if hidden else ""


def _be(standing: _Standing) -> str:
    return "is" if len(standing.names) == 1 else "are"


def _column_names(summary: Summary) -> list[str]:
    """Short names of the columns, without commas, which separate them in a list: ``en-fr (csls)``."""
    split = (name.partition(", ") for name in short_names([column.name for column in summary.columns]))
    return [f"{head} ({tail})" if tail else head for head, _, tail in split]


def _set_name(summary: Summary, set_index: int) -> str:
    return brief_set_names(summary.sets)[set_index]


def _names(summary: Summary, sets: Sequence[int]) -> str:
    names = brief_set_names(summary.sets)
    return listed([names[i] for i in sets], most=MAX_NAMED_SETS, remainder="more")


def _metric(summary: Summary, set_index: int) -> str:
    return summary.sets[set_index].scored_by if summary.by_set_metric else summary.metric


def _number(value: float, metric: str) -> str:
    return metric_named(metric).in_text(value)


# Power


SMALL = 400
"""With fewer test rows, differences of several points are rarely significant."""
PLANNED_DIFFERENCE = 0.03
"""A difference that a larger set should show."""


def missed_differences(summary: Summary, tested: Sequence[int]) -> list[str]:
    """A sentence, if most comparisons with baselines that are not significant would have missed large differences.

    Few test rows are one cause; where scores vary more with the training rows than with the test rows, these are the
    other, and more test rows would not help.
    """
    undecided = list(_undecided(summary, tested))
    # on large sets a difference that is not significant is small, and nothing is missed
    small = [
        (cell, size)
        for cell, size in undecided
        if cell.n < SMALL or (cell.n < ENOUGH_TEST_ROWS and size > MIN_DETECTABLE)
    ]
    if 2 * len(small) <= len(undecided):
        return []
    about = f"below about {max(1, round(100 * median(size for _, size in small)))} points"
    by_training = [cell for cell, _ in small if _varies_with_training(cell)]
    if 2 * len(by_training) > len(small):
        rows = max(cell.train_n for cell in by_training)
        return [
            f"Differences {about} would often have been missed: scores vary more with the training rows, of which "
            f"there are {'' if len(by_training) == 1 else 'at most '}{rows:,}, than with the test rows."
        ]
    test_rows = max(cell.n for cell, _ in small)
    needed = median(cell.n * (size / PLANNED_DIFFERENCE) ** 2 for cell, size in small)
    remedy = (
        f"About {float(f'{needed:.2g}'):,.0f} test rows would show differences of {100 * PLANNED_DIFFERENCE:g} points."
    )
    sentences = [remedy] if needed > test_rows else []
    if len(undecided) == 1:
        return [f"With {test_rows} test rows, a difference {about} would often have been missed.", *sentences]
    which = "The" if len(small) == len(undecided) else "Most"
    limit = SMALL if test_rows < SMALL else ENOUGH_TEST_ROWS
    return [
        f"{which} comparisons that are not significant are on fewer than {limit:,} test rows: differences {about} "
        "would often have been missed.",
        *sentences,
    ]


def _varies_with_training(cell: CellSummary) -> bool:
    """Whether other training rows would change a score more than other test rows would."""
    if cell.training_sd is None or cell.low is None or cell.high is None:
        return False
    # both are in the interval, whose half width is about two standard errors
    variance = ((cell.high - cell.low) / (2 * levels.standard_errors())) ** 2
    return 2 * cell.training_sd**2 > variance


def _undecided(summary: Summary, tested: Sequence[int]) -> Iterator[tuple[CellSummary, float]]:
    """Cells that do not differ significantly from the best baseline, and the difference that would be detected."""
    for i in tested:
        for cell in summary.sets[i].cells:
            against = None if cell is None else cell.against
            if cell is None or against is None or against.p is None or against.p <= levels.ALPHA:
                continue
            if against.detectable is not None:
                yield cell, against.detectable
