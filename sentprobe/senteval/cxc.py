"""CocoCXC: how similar two captions are, of Crisscrossed Captions (Parekh et al. 2021), as in PromCSE's copy."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.files import read_json
from sentprobe.core.reader import find_file, read_csv, wrong_width
from sentprobe.errors import DataError
from sentprobe.senteval.encoding import Batcher, Prepare, Similarity, agreement, similarities, similarity_of
from sentprobe.senteval.files import Pairs, pairs_of, score_of, sentences_of_pairs
from sentprobe.senteval.utils import dotdict

__all__ = ["CocoCXCEval"]

log = logging.getLogger("senteval")

SAMPLES, SAMPLING_SEED = 1000, 123
"""Of the bootstrap, as in PromCSE's copy and in the paper."""


class CocoCXCEval:
    """Pairs of captions with a score in one set, and the images that they are sampled by."""

    similarity: Similarity

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("\n\n***** Transfer task : CocoCXC *****\n\n")
        self.seed = seed
        self.keys: list[tuple[str, str]] = []
        """The ids of the captions of each pair."""
        self.data = self.loadFile(Path(task_path) / "cxc-sts-test.csv")
        self.coco_test = self.load_coco_test(Path(task_path) / "dataset_coco_with_cxc.json")

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all captions to the client."""
        self.similarity = similarity_of(params)
        return prepare(params, sentences_of_pairs([self.data]))

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and scores of a table with a header: two ids, the score, the kind of rating, two captions."""
        rows = []
        for number, cells in list(read_csv(str(_file(fpath))))[1:]:
            if len(cells) != 6:
                raise wrong_width(str(fpath), number, cells, "six")
            self.keys.append((cells[0], cells[1]))
            rows.append((cells[4], cells[5], score_of(fpath, number, cells[2])))
        return pairs_of(rows)

    def load_coco_test(self, path: str | Path) -> list[Mapping[str, Any]]:
        """The test images, each with the rated pairs of its captions."""
        images = read_json(_file(path)).get("images", [])
        rated = [image for image in images if image.get("split") == "test" and image.get("cxc_scores")]
        if not rated:
            raise DataError(f"{path} has no test image with `cxc_scores`; expected the file of PromCSE's copy.")
        return rated

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode and compare."""
        predicted = similarities(params, batcher, self.similarity, self.data["X_A"], self.data["X_B"])
        log.debug("Start bootstrap\n")
        samples = self._sampled_correlations(np.array(predicted, np.float64), np.array(self.data["y"]))
        mean, deviation = np.mean(samples), np.std(samples)
        log.debug("%s : bootstrap spearman = %.3f, std = %.3f", "test", mean, deviation)
        results = agreement({"test": (predicted, self.data["y"])})
        results["test"]["bootstrap"] = {"spearman": mean, "std": deviation}
        return results

    def _sampled_correlations(self, predicted: Any, gold: Any) -> list[float]:
        """Spearman's correlation of random halves of the images, with one pair of each."""
        from scipy.stats import spearmanr

        rows_of_pair: dict[tuple[str, str], list[int]] = {}
        for row, key in enumerate(self.keys):
            rows_of_pair.setdefault(key, []).append(row)
        pairs = [[rows_of_pair.get((str(a), str(b)), []) for a, b, *_ in i["cxc_scores"]] for i in self.coco_test]
        draw = np.random.RandomState(SAMPLING_SEED)
        correlations = []
        for _ in range(SAMPLES):
            images = draw.choice(len(pairs), size=len(pairs) // 2)
            rows = [row for image in images for row in pairs[image][draw.choice(len(pairs[image]), size=1)[0]]]
            correlations.append(float(spearmanr(gold[rows], predicted[rows])[0]))
        return correlations


def _file(path: str | Path) -> Path:
    """The file, compressed or not."""
    actual = find_file(Path(path))
    if actual is None:
        raise DataError(
            f"There is no file {path}, compressed or not. Crisscrossed Captions are on github.com/"
            "google-research-datasets/Crisscrossed-Captions; their STS pairs with the captions are PromCSE's."
        )
    return actual
