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
    Listing(name="tasks", order=10, kind="sentprobe.tasks:TASKS", rows=_tasks),
    Listing(name="suites", order=20, kind="sentprobe.tasks:PARAMETRIC_TASKS", rows=_suites),
    Listing(
        name="annotators",
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
        order=60,
        kind="sentprobe.encoders:SCHEMES",
        columns={"scheme": lambda part: f"{part.name}:", "description": description_of},
    ),
    Listing(name="probes", order=70, kind="sentprobe.probes.kind:PROBE_KINDS", rows=_probes),
    Listing(name="metrics", order=115, kind="sentprobe.results.metric:METRICS"),
    Listing(name="controls", order=120, kind="sentprobe.run.control:CONTROLS"),
    Listing(name="measures", order=130, kind="sentprobe.run.measure:MEASURES"),
    Listing(name="charts", order=140, kind="sentprobe.report.charts:CHARTS"),
    Listing(name="sections", order=150, kind="sentprobe.report.page.sections:SECTIONS"),
    Listing(name="checks", order=160, kind="sentprobe.report.checks:CHECKS"),
    Listing(name="audit-checks", order=170, kind="sentprobe.audit:AUDIT_CHECKS"),
    Listing(name="run-kinds", order=183, kind="sentprobe.results.run_kind:RUN_KINDS"),
    Listing(name="summary-extensions", order=185, kind="sentprobe.report.extension:SUMMARY_EXTENSIONS"),
    Listing(name="folder-types", order=190, kind="sentprobe.core.folders:FOLDER_TYPES"),
    Listing(name="verbs", order=210, kind="sentprobe.cli._verbs:VERBS", rows=_verbs),
    Listing(
        name="listings",
        order=220,
        kind="sentprobe.cli.listings:LISTINGS",
        columns={"name": name_of, "kind of part": lambda part: part.kind or "none: a table"},
    ),
)
