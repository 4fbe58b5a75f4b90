"""conneau2019, section 4.2, table 4.10."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_bilstm_above_cbow_xnli",
    paper="conneau2019",
    where="section 4.2, table 4.10",
    sentence=(
        "Encoders trained on inference are better at XNLI than aligned means of word vectors, in every language."
    ),
    statistic=Difference(Models("X-BiLSTM", "X-BiLSTM-max"), Models("X-CBOW", "X-CBOW"), tasks=("XNLI",), table="4.10"),
)
