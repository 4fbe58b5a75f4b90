"""Published results: how far scores are from what papers printed for the same sets."""

from __future__ import annotations

from sentprobe.report.page.section import Section
from sentprobe.report.published import difference_notes, difference_table

TEMPLATE = """\
{{ macros.number_table(table) }}
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
    data=lambda page: {"table": difference_table(page.brief), "notes": list(difference_notes(page.brief))},
    absent=lambda page: None if difference_table(page.brief) else "",
)
