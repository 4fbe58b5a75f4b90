"""Lists of the parts there are, by kind."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.cli.listings import Listing, Row, description_of, name_of


def _tasks() -> Iterator[Row]:
    from sentprobe.tasks import PARAMETRIC_TASKS, TASKS

    yield "task", "question", "needs", "suites"
    for name, task in TASKS.parts().items():
        needs = " or ".join("+".join(sorted(columns)) or "text" for columns in task.readings.values())
        yield name, task.question, needs, ", ".join(task.policies)
    for part in PARAMETRIC_TASKS.parts().values():
        task = part.build(part.example)
        yield part.usage, part.summary, "+".join(sorted(*task.readings.values())), part.suite


def _suites() -> Iterator[Row]:
    from sentprobe.tasks import PAPERS, PARAMETRIC_TASKS, SUITES

    yield "suite", "tasks", "paper"
    for suite, tasks in SUITES.items():
        yield suite, ", ".join(tasks), PAPERS[suite]
    for part in PARAMETRIC_TASKS.parts().values():
        yield part.suite, f"{part.usage}, all that the corpus supports", part.source


def _contrast_rules() -> Iterator[Row]:
    from sentprobe.contrast import CONTRAST_RULES

    yield "rule", "meaning", "description", "wrong of 50 rows read"
    for rule in CONTRAST_RULES.parts().values():
        read = ", ".join(f"{r.corpus} {r}" for r in rule.rows_read)
        yield rule.name, "changed" if rule.effect == "contrast" else "kept", rule.summary, read or "not read"


def _probes() -> Iterator[Row]:
    from sentprobe.probes.probe import differences, presets

    yield "probe", "kind", "description", "settings"
    for name, (preset, probe) in presets().items():
        yield name, probe.kind, preset.summary, differences(probe).replace("&", " ")


def _verbs() -> Iterator[Row]:
    from sentprobe.cli._verbs import VERBS, built_in_verbs

    yield "verb", "description"
    for verb in sorted((VERBS[name] for name in built_in_verbs()), key=lambda verb: verb.order):
        yield verb.name, verb.summary
    for source in VERBS.sources().values():
        if source.package:  # which is not loaded before it is called
            yield source.name, f"From {source.package}."


listings = (
    Listing(
        name="tasks",
        summary="what sets ask: tense, number, word order, …",
        order=10,
        kind="sentprobe.tasks:TASKS",
        rows=_tasks,
    ),
    Listing(
        name="suites",
        summary="the tasks of a paper, made together",
        order=20,
        kind="sentprobe.tasks:PARAMETRIC_TASKS",
        rows=_suites,
    ),
    Listing(
        name="contrast-rules",
        summary="how sentences are rewritten for contrast sets",
        order=25,
        kind="sentprobe.contrast:CONTRAST_RULES",
        rows=_contrast_rules,
    ),
    Listing(
        name="annotators",
        summary="what annotates raw text",
        order=40,
        kind="sentprobe.annotate.annotator:ANNOTATORS",
        columns={
            "annotator": lambda part: f"{part.name}:",
            "description": description_of,
            "options": lambda part: ", ".join(part.options),
        },
    ),
    Listing(
        name="text-sources",
        summary="formats of raw text",
        order=50,
        kind="sentprobe.annotate.source:TEXT_SOURCES",
        columns={
            "format": name_of,
            "description": description_of,
            "files": lambda part: " ".join(part.suffixes),
        },
    ),
    Listing(
        name="encoders",
        summary="what -e takes before the colon",
        order=60,
        kind="sentprobe.encoders:SCHEMES",
        columns={"scheme": lambda part: f"{part.name}:", "description": description_of},
    ),
    Listing(
        name="probes",
        summary="classifiers on vectors, for --probe",
        order=70,
        kind="sentprobe.probes.kind:PROBE_KINDS",
        rows=_probes,
    ),
    Listing(
        name="metrics",
        summary="what scores are computed by, for --metric",
        order=115,
        kind="sentprobe.results.metric:METRICS",
    ),
    Listing(
        name="controls",
        summary="what a score is held against, for --controls",
        order=120,
        kind="sentprobe.run.control:CONTROLS",
    ),
    Listing(
        name="measures",
        summary="what else is measured, for --measures",
        order=130,
        kind="sentprobe.run.measure:MEASURES",
    ),
    Listing(
        name="charts",
        summary="figures, for `sentprobe figure --kind`",
        order=140,
        kind="sentprobe.report.charts:CHARTS",
    ),
    Listing(name="sections", summary="sections of the page", order=150, kind="sentprobe.report.page.sections:SECTIONS"),
    Listing(name="checks", summary="what the page warns about", order=160, kind="sentprobe.report.checks:CHECKS"),
    Listing(name="audit-checks", summary="what audits look for", order=170, kind="sentprobe.audit:AUDIT_CHECKS"),
    Listing(
        name="run-kinds", summary="runs that are not of probes", order=183, kind="sentprobe.results.run_kind:RUN_KINDS"
    ),
    Listing(
        name="summary-extensions",
        summary="what reports say of some runs only",
        order=185,
        kind="sentprobe.report.extension:SUMMARY_EXTENSIONS",
    ),
    Listing(
        name="folder-types",
        summary="folders that `show` and `serve` take besides runs and sets",
        order=190,
        kind="sentprobe.core.folders:FOLDER_TYPES",
    ),
    Listing(
        name="findings",
        summary="claims of papers, for `sentprobe replicate`",
        order=195,
        kind="sentprobe.replicate:FINDINGS",
        columns={
            "finding": name_of,
            "where": lambda part: f"{part.paper}, {part.where}",
            "claim": lambda part: part.sentence,
        },
    ),
    Listing(name="verbs", summary="the commands", order=210, kind="sentprobe.cli._verbs:VERBS", rows=_verbs),
    Listing(
        name="listings",
        summary="these lists",
        order=220,
        kind="sentprobe.cli.listings:LISTINGS",
        columns={"name": name_of, "kind of part": lambda part: part.kind or "none: a table"},
    ),
)
