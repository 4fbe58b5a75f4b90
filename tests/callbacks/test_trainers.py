"""The callbacks in real trainers, on models that the test builds."""

from types import SimpleNamespace

import pytest

from sentprobe import Dataset, Run

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = ["a", "cat", "cats", "the", "dog", "dogs", "sees", "see", "it", "them", *map(str, range(40))]


@pytest.fixture(scope="module")
def number():
    rows = [
        (f"the {noun}{'s' * plural} see {'them' if i % 3 else 'it'} {i % 40}", ("one", "many")[plural], split)
        for i in range(150)
        for noun in ("cat", "dog")
        for plural in (0, 1)
        for split in (("train", "dev", "test")[i % 5 % 3],)
    ]
    return Dataset.from_rows(rows, split="split", name="number", language="en")


@pytest.fixture(scope="module")
def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", *WORDS])}
    model = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    model.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, pad_token="[PAD]", unk_token="[UNK]")


def bert(tokenizer):
    torch.manual_seed(0)
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        )
    )


def trained(tokenizer, number, folder, probed):
    from sentprobe.callbacks import SentProbeCallback

    rows = [
        {**tokenizer(row.text, padding="max_length", max_length=8), "labels": number.labels.index(row.label)}
        for row in number.rows["tr"]
    ][:48]
    options = transformers.TrainingArguments(
        str(folder / "out"), num_train_epochs=2, per_device_train_batch_size=16, learning_rate=0.01, report_to=[],
        save_strategy="no", disable_tqdm=True, use_cpu=True, seed=1,
    )  # fmt: skip
    trainer = transformers.Trainer(model=bert(tokenizer), args=options, train_dataset=rows, processing_class=tokenizer)
    if probed:
        trainer.add_callback(SentProbeCallback(trainer, number, folder / "probing", every=2))
    trainer.train()
    return trainer


def test_a_trainer_logs_probes_and_learns_the_same(tokenizer, number, tmp_path):
    plain, probed = (trained(tokenizer, number, tmp_path, probed) for probed in (False, True))
    for first, second in zip(plain.model.parameters(), probed.model.parameters(), strict=True):
        assert torch.equal(first, second)
    logged = [
        (entry["step"], entry["probing/number"]) for entry in probed.state.log_history if "probing/number" in entry
    ]
    assert [step for step, _ in logged] == [2, 4, 6, 6]  # the last one again, with intervals
    run = Run.load(tmp_path / "probing")
    scores = {r.cell.encoder: r.score for r in run}
    assert [scores[f"model step={step}"] for step in (2, 4, 6)] == [score for _, score in logged[:3]]
    assert any("probing/share_of_time" in entry for entry in probed.state.log_history)
    assert probed.model.training


def test_the_evaluator_of_sentence_transformers(tokenizer, number, tmp_path):
    library = pytest.importorskip("sentence_transformers")
    from sentprobe.callbacks import SentProbeEvaluator

    bert(tokenizer).bert.save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    body = modules.Transformer(str(tmp_path / "bert"))
    pooling = modules.Pooling(body.get_embedding_dimension())
    model = library.SentenceTransformer(modules=[body, pooling], device="cpu")
    evaluator = SentProbeEvaluator(number, tmp_path / "probing", name="probing")
    metrics = evaluator(model, epoch=0.5, steps=10)
    assert evaluator.primary_metric == "probing_mean_accuracy"
    assert metrics["probing_number"] == metrics["probing_mean_accuracy"] == metrics[evaluator.primary_metric]
    final = evaluator(model)  # as after the training
    assert final["probing_number"] == metrics["probing_number"]
    (result,) = [r for r in Run.load(tmp_path / "probing") if r.cell.encoder == "probing step=10"]
    assert result.encoder_interval is not None
    assert result.score == metrics["probing_number"]


def test_a_trainer_of_sentence_transformers_logs_probes(tokenizer, number, tmp_path):
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    datasets = pytest.importorskip("datasets")
    from sentprobe.callbacks import SentProbeEvaluator

    bert(tokenizer).bert.save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    body = modules.Transformer(str(tmp_path / "bert"))
    model = library.SentenceTransformer(modules=[body, modules.Pooling(body.get_embedding_dimension())], device="cpu")
    texts = [row.text for row in number.rows["tr"]][:32]
    pairs = datasets.Dataset.from_dict(
        {"sentence1": texts, "sentence2": texts[1:] + texts[:1], "score": [i % 2 / 1 for i in range(32)]}
    )
    options = library.SentenceTransformerTrainingArguments(
        str(tmp_path / "out"), num_train_epochs=1, per_device_train_batch_size=8, eval_strategy="steps", eval_steps=2,
        save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
    )  # fmt: skip
    evaluator = SentProbeEvaluator(number, tmp_path / "probing")
    trainer = library.SentenceTransformerTrainer(
        model=model, args=options, train_dataset=pairs, loss=losses.CosineSimilarityLoss(model), evaluator=evaluator
    )
    trainer.train()
    logged = {e["step"]: e["eval_model_number"] for e in trainer.state.log_history if "eval_model_number" in e}
    scores = {r.cell.encoder: r.score for r in Run.load(tmp_path / "probing")}
    assert logged == {step: scores[f"model step={step}"] for step in (2, 4)}


def test_modules_that_are_frozen_stay_so(tokenizer, number, tmp_path):
    from sentprobe.callbacks import SentProbeCallback

    model = bert(tokenizer).train()
    model.bert.embeddings.eval()
    modes = [module.training for module in model.modules()]
    trainer = SimpleNamespace(processing_class=tokenizer, log=lambda scores: None)
    callback = SentProbeCallback(trainer, number, tmp_path / "probing", every=1, limit=20)
    callback.on_step_end(None, SimpleNamespace(global_step=1, is_world_process_zero=True), None, model=model)
    assert Run.load(tmp_path / "probing").results
    assert [module.training for module in model.modules()] == modes
