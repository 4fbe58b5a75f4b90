"""Trainings: how much the encoders differ that were trained alike, with several seeds."""

from __future__ import annotations

from sentprobe.report.page.section import Section
from sentprobe.report.recipes import recipe_notes, recipe_tables

TEMPLATE = """\
{% for note in notes %}
<p class="muted">{{ note }}</p>
{% endfor %}
{% for table in tables %}
{{ macros.number_table(table) }}
{% endfor %}
"""


section = Section(
    name="seeds",
    order=22,
    title="Encoder seeds",
    intro="Encoders that were trained alike with several seeds: the mean on each set, with an interval about the "
    "recipe, the standard deviation between trainings, and the score of each.",
    template=TEMPLATE,
    data=lambda page: {"tables": list(recipe_tables(page.brief)), "notes": list(recipe_notes(page.brief))},
    absent=lambda page: None if any(True for _ in recipe_tables(page.brief)) else "",
)
