"""Which words give the maxima of an encoder that pools by maximum, as in Conneau et al. (2017), figures 6 to 9."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.encoders import expand_names, load
from sentprobe.errors import UsageError
from sentprobe.report.drawing.chart import Chart, Options
from sentprobe.report.drawing.figure_style import (
    SERIES_COLOURS,
    Row,
    Spec,
    figure_style,
    number_axis,
    points,
    tooltip,
)
from sentprobe.report.drawing.matrix import Panel, grid
from sentprobe.report.names import short_names
from sentprobe.report.types import Summary

LABEL_ROOM = 1.25
"""How much longer the axis is than the longest bar, for the number at its end."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per sentence, encoder and word: the share of dimensions whose maximum the word gives."""
    names = expand_names(options.encoders)
    sentences = [plain(sentence) for sentence in options.sentences]
    if not names or not any(sentences):
        return []
    word_rows: list[Row] = []
    for j, (name, short_name) in enumerate(zip(names, short_names(names), strict=True)):
        selection = getattr(load(name), "selection", None)
        if not callable(selection):
            raise UsageError(
                f"{name} does not take the maximum over the words of a sentence. Expected an encoder that does, such "
                "as trained:FOLDER of a bilstm-max."
            )
        for i, words in enumerate(selection(sentences)):
            for k, (word, share) in enumerate(words):
                word_rows.append(
                    {
                        "sentence": i,
                        "sentence_text": sentences[i],
                        "column": j,
                        "encoder_name": short_name,
                        "place": k,
                        "word": plain(word),
                        "share": share,
                        "points": points(share),
                        "text": f"{short_name}: {plain(word)} {POINTS.number(share)} %",
                    }
                )
    return sorted(word_rows, key=lambda row: (row["sentence"], row["column"], row["place"]))


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per sentence and encoder, words from top to bottom; encoders of one sentence are side by side."""
    style = figure_style(options.width)
    panels = list(dict.fromkeys((row["sentence"], row["encoder_name"]) for row in rows))
    encoders = len({row["encoder_name"] for row in rows})
    panel_rows = [row | {"panel": panels.index((row["sentence"], row["encoder_name"]))} for row in rows]
    room = style.label_width(row["word"] for row in rows)
    longest = LABEL_ROOM * max(row["points"] for row in rows)

    def draw(panel: Panel) -> Spec:
        bars = [row for row in panel_rows if row["panel"] == panel.number]
        # by place, since a word may occur twice: words are marks, not the labels of an axis
        y = {"field": "place", "type": "ordinal", "scale": {"domain": [row["place"] for row in bars]}, "axis": None}
        x = {
            "field": "points",
            "type": "quantitative",
            "scale": {"domain": [0, longest], "nice": False},
            "axis": number_axis("dimensions (%)" if panel.last else "", tickCount=3),
        }
        return {
            "height": {"step": style.step},
            "encoding": {"y": y, "x": x, "tooltip": tooltip()},
            "layer": [
                {"mark": {"type": "bar", "color": SERIES_COLOURS[0]}},
                {
                    "mark": {"type": "text", "align": "left", "dx": style.font / 4},
                    "encoding": {"text": {"field": "points", "type": "quantitative", "format": ".0f"}},
                },
                {
                    "mark": {"type": "text", "align": "right", "dx": -style.font / 2, "limit": room},
                    "encoding": {"x": {"value": 0}, "text": {"field": "word", "type": "nominal"}},
                },
            ],
        }

    return grid(
        style,
        panel_rows,
        [name for _, name in panels],
        draw,
        label_width=room,
        min_width=8 * style.font,
        gap=room + 1.5 * style.font,
        most=encoders if encoders > 1 else None,
    )


chart = Chart(
    name="selection",
    order=105,
    title="Words that give the maxima",
    doc="for encoders that take the maximum over words, the share of dimensions whose maximum each word gives",
    needs="A figure of selection needs encoders and sentences, such as -e trained:FOLDER -e 'trained:FOLDER?random=1' "
    "--sentence 'The old house has three windows.'; one of them is missing.",
    rows=rows,
    spec=spec,
    fields=("sentence", "sentence_text", "column", "encoder_name", "place", "word", "share", "points"),
    options={"sentence": "`--sentence`: a text; may be repeated. `--encoder` names what to load, and there is no run"},
    caption="Per word, the share of dimensions whose maximum over the sentence it gives.",
    needs_run=False,
)
