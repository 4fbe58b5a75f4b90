"""The folder of sets as a dataset of Hugging Face: what `datasets` loads, and whose README is left alone."""

import json
import re
from dataclasses import replace

import pytest

from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import find_sets
from sentprobe.errors import DataError
from sentprobe.make.card import CARD_FILE, SIZE_NAMES, SIZES, SPLIT_FILES, write_card
from sentprobe.tasks import SPLITS, Example
from tests.command_line import sentprobe

datasets = pytest.importorskip("datasets")


@pytest.fixture
def saved(tmp_path, conneau, universal):
    """Three sets below a folder, one of them with several hundred labels."""
    folder = tmp_path / "probes"
    for dataset in (conneau["bigram_shift"], conneau["word_content"], universal["past_present"]):
        dataset.save(folder / dataset.name)
    return folder


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def load(folder, *config, cache):
    return datasets.load_dataset(str(folder), *config, cache_dir=str(cache))


def test_every_set_is_a_configuration_with_three_splits_and_typed_labels(saved, tmp_path):
    assert write_card(saved)
    configs = datasets.get_dataset_config_names(str(saved))
    assert configs == ["conneau2018-bigram_shift", "conneau2018-word_content", "universal2019-past_present"]
    for config, source in zip(configs, find_sets(saved), strict=True):
        dataset, loaded = source.load(), load(saved, config, cache=tmp_path / "cache")
        assert list(loaded) == ["train", "validation", "test"]
        for split, rows in zip(SPLITS, loaded.values(), strict=True):
            label = rows.features["label"]
            assert label.names == list(dataset.labels)
            expected = [(row.text, row.label, list(row.tokens), row.source, row.key) for row in dataset.rows[split]]
            columns = (rows["text"], map(label.int2str, rows["label"]), rows["tokens"], rows["source"], rows["key"])
            assert list(zip(*columns, strict=True)) == expected
            assert rows["marks"][:] == [list(row.marks) for row in dataset.rows[split]]


def test_a_folder_of_one_set_needs_no_name(tmp_path, conneau):
    conneau["tree_depth"].save(tmp_path / "one")
    assert write_card(tmp_path / "one")
    loaded = load(tmp_path / "one", cache=tmp_path / "cache")
    assert loaded.num_rows == {
        name.partition(".")[0]: len(conneau["tree_depth"].rows[split]) for split, name in SPLIT_FILES.items()
    }


def test_the_files_of_sets_do_not_change_and_a_second_card_is_the_same(saved):
    before = content(saved)
    assert write_card(saved)
    first = content(saved)
    assert {name: data for name, data in first.items() if name in before} == before
    assert set(first) - set(before) == {
        CARD_FILE,
        *(f"{s.name}/{f}" for s in find_sets(saved) for f in SPLIT_FILES.values()),
    }
    assert write_card(saved)
    assert content(saved) == first
    assert [source.kind for source in find_sets(saved)] == ["made"] * 3


def test_a_set_that_was_made_anew_has_new_files(saved, tmp_path):
    assert write_card(saved)
    home = saved / "conneau2018/bigram_shift"
    dataset = Dataset.load(home)
    manifest = {name: value for name, value in dataset.manifest.items() if name not in ("digest", "files")}
    fewer = replace(dataset, rows={**dataset.rows, "te": dataset.rows["te"][:7]}, manifest=manifest)
    fewer.save(home)
    assert write_card(saved)
    assert load(saved, "conneau2018-bigram_shift", cache=tmp_path / "cache")["test"].num_rows == 7


def test_the_card_says_what_is_known(saved):
    assert write_card(saved)
    card = (saved / CARD_FILE).read_text("utf-8")
    information = datasets.load_dataset_builder(str(saved), "conneau2018-bigram_shift")
    assert information.config.name == "conneau2018-bigram_shift"
    front = card.split("---\n")[1]
    assert re.search(r'^language:\n- "en"$', front, re.MULTILINE)
    assert re.search(r"^license: unknown ", front, re.MULTILINE)
    total = sum(len(source.load()) for source in find_sets(saved))
    assert f"- {SIZE_NAMES[sum(total >= size for size in SIZES)]}\n" in front
    for source in find_sets(saved):
        manifest = json.loads((saved / source.name / "manifest.json").read_text("utf-8"))
        assert manifest["question"] in card
        assert manifest["corpus"]["digest"] in card
        assert all(finding["code"] in card for finding in manifest["audit"])


def test_a_licence_that_was_filled_in_is_kept(saved):
    assert write_card(saved)
    path = saved / CARD_FILE
    filled_in = re.sub(
        r"license: .*", "license: cc-by-sa-4.0\nlicense_link: https://example.org", path.read_text("utf-8")
    )
    path.write_text(filled_in, "utf-8")
    assert write_card(saved)
    assert path.read_text("utf-8") == filled_in


@pytest.mark.parametrize("edit", [lambda text: text.replace("universal2019", "mine", 1), lambda _: "# My project\n"])
def test_another_readme_is_left_alone(saved, edit):
    assert write_card(saved)
    path = saved / CARD_FILE
    path.write_text(edit(path.read_text("utf-8")), "utf-8")
    before = path.read_bytes()
    assert not write_card(saved)
    assert path.read_bytes() == before


def test_labels_and_names_cannot_break_out_of_the_card(tmp_path, conneau):
    dataset = conneau["bigram_shift"]
    evil = 'a"\n---\n| <script>'
    rows = {
        split: [row._replace(label=evil if row.label == "I" else row.label) for row in dataset.rows[split]]
        for split in SPLITS
    }
    manifest = dict(dataset.manifest) | {"question": evil, "corpus": {**dataset.manifest["corpus"], "name": evil}}
    replace(dataset, labels=(evil, "O"), rows=rows, manifest=manifest | {"labels": [evil, "O"]}).save(tmp_path / "a b")
    assert write_card(tmp_path)
    card = (tmp_path / CARD_FILE).read_text("utf-8")
    assert "<script>" not in card.split("---\n", 2)[2]
    loaded = load(tmp_path, "a-b", cache=tmp_path / "cache")
    assert loaded["test"].features["label"].names == [evil, "O"]


def test_a_folder_without_sets_is_an_error_and_a_damaged_set_is_left_out(saved, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no probing set"):
        write_card(tmp_path / "empty")
    (saved / "conneau2018/word_content/rows.parquet").write_bytes(b"")
    assert write_card(saved)
    assert datasets.get_dataset_config_names(str(saved)) == ["conneau2018-bigram_shift", "universal2019-past_present"]


def test_make_writes_the_card_of_all_sets_in_its_folder(tmp_path):
    def make(task):
        return sentprobe("make", "--builtin", "600", "-t", task, "--sizes", "40/20/20", "-o", str(tmp_path / "p"))

    make("bigram_shift")
    make("passive")
    assert len(datasets.get_dataset_config_names(str(tmp_path / "p"))) == 2
    (tmp_path / "p" / CARD_FILE).write_text("# Mine\n", "utf-8")
    assert "left as it is" in make("passive").stderr


def test_the_type_of_labels_is_in_the_files_themselves():
    import io

    import pyarrow.parquet as pq

    from sentprobe.make.card import encode_split

    content = encode_split([Example("b", ("x",), "x")], ["a", "b"], "0" * 16)
    schema = pq.read_schema(io.BytesIO(content))
    assert datasets.Features.from_arrow_schema(schema)["label"] == datasets.ClassLabel(names=["a", "b"])


def test_names_of_folders_are_neither_patterns_nor_addresses_nor_confused(tmp_path, conneau):
    names = {"a-b": "a-b", "a/b": "a-b-2", "w1": "w1", "w[12]": "w[12]", "co:lon": "co-lon", "mill 😀": "mill-😀"}
    dataset, folder = conneau["bigram_shift"], tmp_path / "probes"
    for i, home in enumerate(names, 1):
        replace(dataset, rows={split: rows[: 5 * i] for split, rows in dataset.rows.items()}).save(folder / home)
    assert write_card(folder)
    assert set(datasets.get_dataset_config_names(str(folder))) == set(names.values())
    by_number = sorted((load(folder, name, cache=tmp_path / "cache").num_rows["test"], name) for name in names.values())
    pair = ["a-b", "a-b-2"]  # in the order of the folders, whatever it is
    assert [rows for rows, _ in by_number] == [5 * i for i in range(1, len(names) + 1)]
    assert [name if name not in pair else "" for _, name in by_number] == ["", "", *list(names.values())[2:]]
