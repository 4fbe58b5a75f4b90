"""Tasks, languages and models that several findings are about, by the names that tables have."""

ALL_BUT_LENGTH = (
    "word_content", "tree_depth", "top_constituents", "bigram_shift", "past_present", "subj_number", "obj_number",
    "odd_man_out", "coordination_inversion",
)  # fmt: skip
"""The probing tasks of Conneau et al. (2018) besides sentence length."""
TRANSFER_TASKS = (
    "MR", "CR", "SUBJ", "MPQA", "SST2", "SST5", "TREC", "MRPC", "SICKEntailment", "SICKRelatedness", "STSBenchmark",
)  # fmt: skip
"""Table 5 of Conneau et al. (2018)."""
OBJECTIVES = (
    "{architecture} Untrained", "{architecture} AutoEncoder", "{architecture} NMT {target}", "{architecture} Seq2Tree",
    "{architecture} SkipThought", "{architecture} NLI",
)  # fmt: skip
"""The encoders of Conneau et al. (2018), by what they were trained for."""
ENCODERS = ("BoV-fastText", *OBJECTIVES)
"""The same, and the bag of vectors."""
NO_ENCODERS = ("Majority vote", "Hum. Eval.", "Length", "NB-{features}", "Chance", "{encoder} (other)")
"""What else is in their tables."""
UNIVERSAL_TASKS = (
    "sentence_length", "word_content", "tree_depth", "top_dependencies", "passive", "past_present", "subj_number",
    "obj_number", "sentence_type",
)  # fmt: skip
"""The probing tasks of Krasnowska-Kieraś and Wróblewska (2019)."""
WITHOUT_TREES = ("fastText_{pooling}", "BERT_{pooling}", "Sent2Vec_{variant}", "USE", "LASER")
"""Their encoders that were not trained on trees."""
LEARNED_TASKS = (
    "coordination_inversion", "obj_number", "past_present", "sentence_length", "subj_number", "word_content",
    "tree_depth",
)  # fmt: skip
"""The tasks of X-Probe that some encoder learns."""
XPROBE_TASKS = ("bigram_shift", "odd_man_out", *LEARNED_TASKS)
MAPPED_LANGUAGES = ("de", "es", "fr", "ru")
"""The languages of X-Probe whose encoders were mapped to that of English."""
MAPPED_OR_NOT = ("{encoder}, {mapping}", "{encoder}")
"""The encoders of X-Probe; those of French were mapped with two corpora."""
XNLI_LANGUAGES = ("fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh", "hi", "sw", "ur")
"""Without English, from which it was translated."""
