"""The sent2vec model that Krasnowska-Kieraś and Wróblewska trained themselves."""

from __future__ import annotations

from sentprobe.lab.training.objective import TrainingPreset

preset = TrainingPreset(
    name="krasnowska2019/sent2vec",
    summary="mean of unigram and bigram vectors, 700 dimensions",
    encoder="ngrams",
    settings={"buckets": 2_000_000},
    objective={"ngrams": {}},
    # not printed: the size of the model that Pagliardini et al. released
    inputs={"width": 700},
    paper="Krasnowska-Kieraś and Wróblewska (2019), Empirical Linguistic Study of Sentence Embeddings",
    size=700,
    order=90,
)
