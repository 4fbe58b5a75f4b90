"""Published results: how far scores are from what papers printed for the same sets."""

from __future__ import annotations

from sentprobe.report.differences import difference_notes, difference_tables
from sentprobe.report.page.section import Section

TEMPLATE = """\
{% for title, table in tables %}
{{ macros.number_table(title, table) }}
{% endfor %}
{% for note in notes %}
<p class="muted">{{ note }}</p>
{% endfor %}
"""


section = Section(
    name="published",
    order=24,
    title="Published results",
    intro="What papers printed for these sets, and how far each score is from it. A difference has many causes "
    "besides the encoder: the probe and its tuning, tokenisation, other training rows.",
    template=TEMPLATE,
    data=lambda page: {"tables": list(difference_tables(page.brief)), "notes": list(difference_notes(page.brief))},
    absent=lambda page: None if any(difference_tables(page.brief)) else "",
)
