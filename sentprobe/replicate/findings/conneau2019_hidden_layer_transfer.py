"""conneau2019, section 3.1, table 3.3."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_hidden_layer_transfer",
    paper="conneau2019",
    where="section 3.1, table 3.3",
    sentence=(
        "A classifier with a hidden layer is better than logistic regression on bags of word vectors, on average."
    ),
    statistic=Difference(
        Models("MLP", "{vectors} MLP"),
        Models("logistic regression", "{vectors} LogReg"),
        tasks=("MR", "CR", "SUBJ", "MPQA", "SST2", "SST5", "TREC", "MRPC", "SICKEntailment"),
        table="3.3",
        cells="mean",
    ),
)
