"""adi2017, appendix III, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_models_differ",
    paper="adi2017",
    where="appendix III, table 2",
    sentence="LSTM auto-encoders and CBOW of the same size differ on all three tasks.",
    statistic=Difference(
        Models("LSTM auto-encoder", "ED-{size}"), Models("CBOW", "CBOW-{size}"), table="2", expect="different"
    ),
    note="By the paper's own paired t-tests.",
)
