"""SentEval's own interface: code written for SentEval, or for SimCSE's copy of it, runs unchanged.

    import sentprobe.senteval as senteval

    se = senteval.engine.SE({"task_path": "data"}, batcher, prepare)
    results = se.eval(["MR", "STSBenchmark", "Length"])

``sentprobe senteval install DIR`` writes a package ``senteval`` that imports from here, for scripts that use that name.
"""

# Modules, classes and methods have SentEval's names, since clients import them: hence a module per task, even where it
# is small, and `utils`. What the tasks share and SentEval does not have is in `encoding` and `files`.
from sentprobe.senteval import binary, cxc, engine, glue, mrpc, probing, rank, sick, snli, sst, sts, tools, trec, utils
from sentprobe.senteval.engine import SE, SentEval, register_task

__all__ = [
    "SE",
    "SentEval",
    "binary",
    "cxc",
    "engine",
    "glue",
    "mrpc",
    "probing",
    "rank",
    "register_task",
    "sick",
    "snli",
    "sst",
    "sts",
    "tools",
    "trec",
    "utils",
]
