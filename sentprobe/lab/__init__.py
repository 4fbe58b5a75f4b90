"""Where linguistic knowledge comes from: training encoders and language models, and mapping them across languages.

Nothing outside this package imports it. Its verbs, encoder schemes, charts, page sections and other parts are found as
those of any other package are: see ``sentprobe.core.plugins``. Importing it loads nothing heavy: each name is loaded
when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentprobe.core.public import public_names

if TYPE_CHECKING:
    from sentprobe.core.arguments import Setting as Setting
    from sentprobe.lab.alignment.folder import AlignmentFolder as AlignmentFolder
    from sentprobe.lab.alignment.method import Matrices as Matrices
    from sentprobe.lab.alignment.method import Method as AlignmentMethod
    from sentprobe.lab.alignment.method import Problem as Problem
    from sentprobe.lab.networks.architecture import Architecture as Architecture
    from sentprobe.lab.networks.architecture import Encoded as Encoded
    from sentprobe.lab.networks.folder import TrainedFolder as TrainedFolder
    from sentprobe.lab.networks.sequences import max_over_time as max_over_time
    from sentprobe.lab.networks.sequences import mean_over_time as mean_over_time
    from sentprobe.lab.training.examples import Stream as Stream
    from sentprobe.lab.training.objective import Loss as Loss
    from sentprobe.lab.training.objective import Objective as Objective
    from sentprobe.lab.training.objective import Prepared as Prepared
    from sentprobe.lab.training.objective import TrainingPreset as TrainingPreset
    from sentprobe.lab.verbs import align as align
    from sentprobe.lab.verbs import train as train
    from sentprobe.lab.verbs import translate as translate
    from sentprobe.lab.words.evaluate import evaluate_words as evaluate_words
    from sentprobe.lab.words.evaluation import DetailNumber as DetailNumber
    from sentprobe.lab.words.evaluation import EvaluationRequest as EvaluationRequest
    from sentprobe.lab.words.evaluation import EvaluationScores as EvaluationScores
    from sentprobe.lab.words.evaluation import Queries as Queries
    from sentprobe.lab.words.evaluation import WordEvaluation as WordEvaluation

_HOMES = {
    "AlignmentFolder": "sentprobe.lab.alignment.folder",
    "AlignmentMethod": "sentprobe.lab.alignment.method:Method",
    "EvaluationScores": "sentprobe.lab.words.evaluation",
    "Architecture": "sentprobe.lab.networks.architecture",
    "DetailNumber": "sentprobe.lab.words.evaluation",
    "Encoded": "sentprobe.lab.networks.architecture",
    "EvaluationRequest": "sentprobe.lab.words.evaluation",
    "Loss": "sentprobe.lab.training.objective",
    "Matrices": "sentprobe.lab.alignment.method",
    "Objective": "sentprobe.lab.training.objective",
    "Prepared": "sentprobe.lab.training.objective",
    "TrainingPreset": "sentprobe.lab.training.objective",
    "Problem": "sentprobe.lab.alignment.method",
    "Queries": "sentprobe.lab.words.evaluation",
    "Setting": "sentprobe.core.arguments",
    "Stream": "sentprobe.lab.training.examples",
    "TrainedFolder": "sentprobe.lab.networks.folder",
    "WordEvaluation": "sentprobe.lab.words.evaluation",
    "align": "sentprobe.lab.verbs",
    "evaluate_words": "sentprobe.lab.words.evaluate",
    "max_over_time": "sentprobe.lab.networks.sequences",
    "mean_over_time": "sentprobe.lab.networks.sequences",
    "train": "sentprobe.lab.verbs",
    "translate": "sentprobe.lab.verbs",
}

__all__ = [
    "AlignmentFolder",
    "AlignmentMethod",
    "Architecture",
    "DetailNumber",
    "Encoded",
    "EvaluationRequest",
    "EvaluationScores",
    "Loss",
    "Matrices",
    "Objective",
    "Prepared",
    "Problem",
    "Queries",
    "Setting",
    "Stream",
    "TrainedFolder",
    "TrainingPreset",
    "WordEvaluation",
    "align",
    "evaluate_words",
    "max_over_time",
    "mean_over_time",
    "train",
    "translate",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = public_names(__name__, _HOMES)
