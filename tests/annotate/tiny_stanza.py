"""A folder of tiny Stanza models, trained by Stanza's own training code on sentences of the built-in grammar."""

import gc
import json
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from sentprobe import Corpus
from sentprobe.core.resources import single_threaded
from sentprobe.corpus.brackets import write_brackets
from sentprobe.corpus.conllu import write_conllu

TINY = ["--device", "cpu", "--seed", "1"]


def build(folder):
    """Train a tokenizer, an expander of multi-word tokens, a tagger and two parsers, and list them as Stanza does."""
    sentences = [s for s in Corpus.synthetic(150) if any(form.lower() == "don't" for *_, form in s.mwts)]
    sentences += list(Corpus.synthetic(12))
    files = _files(Path(folder, "data"), sentences)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # its training leaves files open
        import stanza  # noqa: F401 - so that its libraries are loaded when threads are limited

        with single_threaded():
            _tokenizer(Path(folder, "en", "tokenize"), sentences)
            _others(Path(folder, "en"), files)
        gc.collect()
    package = {"tokenize": "tiny", "mwt": "tiny", "pos": "tiny", "lemma": "identity", "depparse": "tiny"}
    pretrain = {"dependencies": [{"model": "pretrain", "package": "tiny"}]}
    listed = {
        "lang_name": "English",
        "packages": {"default": {**package, "optional": {"constituency": "tiny"}}},
        "tokenize": {"tiny": {}},
        "mwt": {"tiny": {}},
        "pos": {"tiny": pretrain},
        "depparse": {"tiny": pretrain},
        "constituency": {"tiny": pretrain},
        "pretrain": {"tiny": {}},
    }
    Path(folder, "resources.json").write_text(json.dumps({"en": listed, "english": {"alias": "en"}}))


def _files(folder, sentences):
    folder.mkdir(parents=True)
    files = {name: str(folder / name) for name in ("train.conllu", "trees.mrg", "vectors.txt", "out.conllu")}
    with Path(files["train.conllu"]).open("w", encoding="utf-8") as out:
        write_conllu(sentences, out)
    with Path(files["trees.mrg"]).open("w", encoding="utf-8") as out:
        for sentence in sentences:
            write_brackets([sentence], text := StringIO())
            out.write(text.getvalue().rpartition("\t")[2])
    words = sorted({form.lower() for sentence in sentences for form in sentence.forms if " " not in form})
    vectors = np.random.default_rng(0).normal(size=(len(words), 4)).round(3)
    lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, vectors, strict=True)]
    Path(files["vectors.txt"]).write_text("\n".join([f"{len(words)} 4", *lines, ""]))
    return files


def _tokenizer(folder, sentences):
    """Characters with labels: inside a token 0, its end 1, that of a sentence 2, of a multi-word token one 3 or 4."""
    from stanza.models import tokenizer
    from stanza.models.common.utils import set_random_seed

    texts, labels, expansions = [], [], []
    for s in sentences:
        ranges = {first: (end, form) for first, end, form in s.mwts}
        text = label = ""
        word = 0
        while word < len(s):
            end, form = ranges.get(word, (word + 1, s.forms[word]))
            if word in ranges:
                expansions.append([[form, list(s.forms[word:end])], 1])
            space = " " if s.space_after[end - 1] and end < len(s) else ""
            text += form + space
            label += "0" * (len(form) - 1) + str(1 + (end == len(s)) + 2 * (word in ranges)) + "0" * len(space)
            word = end
        texts.append(text)
        labels.append(label)
    folder.mkdir(parents=True)
    Path(folder, "a.txt").write_text(" ".join(texts) + "\n\n")
    Path(folder, "a.label").write_text("0".join(labels) + "\n\n")
    Path(folder, "a.json").write_text(json.dumps(expansions))
    args = tokenizer.parse_args([
        "--txt_file", f"{folder}/a.txt", "--label_file", f"{folder}/a.label", "--mwt_json_file", f"{folder}/a.json",
        "--dev_txt_file", f"{folder}/a.txt", "--dev_label_file", f"{folder}/a.label", "--lang", "en",
        "--shorthand", "en_tiny", "--save_dir", str(folder), "--save_name", "tiny.pt", "--steps", "80",
        "--eval_steps", "80", "--batch_size", "8", "--hidden_dim", "16", "--emb_dim", "8", "--rnn_layers", "1",
        "--lr0", "0.02", *TINY,
    ])  # fmt: skip
    args["feat_funcs"] = ["space_before", "capitalized", "numeric", "end_of_para", "start_of_para"]
    args["feat_dim"] = len(args["feat_funcs"])
    args["save_name"] = tokenizer.model_file_name(args)
    set_random_seed(1)  # as Stanza's command line does
    tokenizer.train(args)


def _others(folder, files):
    from stanza.models import constituency_parser, mwt_expander, parser, tagger
    from stanza.models.common.pretrain import Pretrain

    pretrain = folder / "pretrain" / "tiny.pt"
    pretrain.parent.mkdir(parents=True)
    Pretrain(filename=str(pretrain), vec_filename=files["vectors.txt"]).load()

    def common(processor):
        (folder / processor).mkdir(parents=True)
        return [
            "--train_file", files["train.conllu"], "--eval_file", files["train.conllu"], "--lang", "en",
            "--output_file", files["out.conllu"], "--shorthand", "en_tiny", "--save_dir", str(folder / processor),
            "--save_name", "tiny.pt", *TINY,
        ]  # fmt: skip

    vectors = ["--wordvec_pretrain_file", str(pretrain)]
    small = [
        "--hidden_dim", "10", "--deep_biaff_hidden_dim", "10", "--word_emb_dim", "4", "--transformed_dim", "6",
        "--tag_emb_dim", "4", "--num_layers", "1", "--char_hidden_dim", "6", "--char_emb_dim", "4",
        "--augment_nopunct", "0.0", "--max_steps", "4", "--eval_interval", "4",
    ]  # fmt: skip
    mwt_expander.main([*common("mwt"), "--gold_file", files["train.conllu"], "--dict_only"])
    tagger.main([*common("pos"), *vectors, *small, "--composite_deep_biaff_hidden_dim", "6"])
    parser.main([*common("depparse"), *vectors, *small])
    (folder / "constituency").mkdir()
    args = constituency_parser.parse_args([
        "--train_file", files["trees.mrg"], "--eval_file", files["trees.mrg"], *vectors,
        "--pattn_num_layers", "0", "--lattn_d_proj", "0", "--hidden_size", "20", "--delta_embedding_dim", "6",
        "--tag_embedding_dim", "6", "--transition_hidden_size", "10", "--transition_embedding_dim", "6",
        "--shorthand", "en_tiny", "--lang", "en", *TINY,
    ])  # fmt: skip
    from stanza.models.common.foundation_cache import FoundationCache
    from stanza.models.constituency import parser_training, tree_reader

    trees = tree_reader.read_treebank(files["trees.mrg"])  # it is not trained, for which Stanza needs a Java program
    made = parser_training.build_trainer(args, trees, trees, [], FoundationCache(), None)[0]
    made.save(str(folder / "constituency" / "tiny.pt"), save_optimizer=False)
