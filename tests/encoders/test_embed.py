"""From texts to vectors: each text once, in any order, and nothing that is no vector."""

import errno
import mmap
import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sentprobe.encoders import Identity, batches, encoder_info, load, table
from sentprobe.encoders.embed import Embeddings, embed
from sentprobe.encoders.store import Store
from sentprobe.errors import EncoderError, ShapeError, UsageError


def code(text):
    """A vector that depends on the text alone."""
    return [len(text), sum(map(ord, text)) % 97, text.count("a"), 1.0]


class Counting:
    """An encoder that remembers what it was asked for."""

    batch_size = 4

    def __init__(self, identity=None, layers=(), fail_at=None):
        self.identity, self.layers, self.fail_at = identity, layers, fail_at
        self.asked = []

    def __call__(self, texts):
        if self.fail_at is not None and len(self.asked) >= self.fail_at:
            raise KeyboardInterrupt
        self.asked.append(list(texts))
        found = np.array([code(t) for t in texts], np.float32)
        return np.stack([found * (i + 1) for i in range(len(self.layers))]) if self.layers else found


class Unreadable:
    """A tensor of a type that numpy does not have."""

    dtype = "torch.float8"

    def detach(self):
        return self

    def to(self, device):
        return self

    def numpy(self):
        raise TypeError("float8")


IDENTITY = Identity.of("test", "counting")
TEXTS = [f"{'a' * (i % 7)} text number {i}" for i in range(30)]


@given(st.lists(st.text(max_size=12), max_size=25))
def test_vectors_come_back_in_the_order_of_the_texts(texts):
    found = embed(Counting(), texts)
    assert found.texts == tuple(texts)
    if texts:
        assert np.array_equal(found.vectors, np.array([code(t) for t in texts], np.float32))


def test_each_different_text_is_encoded_once_longest_first():
    encoder = Counting()
    found = embed(encoder, [*TEXTS, *TEXTS[::-1]])
    asked = [t for some in encoder.asked for t in some]
    assert sorted(asked) == sorted(set(TEXTS))
    assert [len(t) for t in asked] == sorted((len(t) for t in TEXTS), reverse=True)
    assert max(map(len, encoder.asked)) == 4
    assert (found.encoded, len(found.vectors)) == (30, 60)


def test_an_encoder_may_say_what_a_text_costs():
    encoder = Counting()
    encoder.cost = lambda texts: [-len(t) for t in texts]
    embed(encoder, TEXTS)
    asked = [t for some in encoder.asked for t in some]
    assert [len(t) for t in asked] == sorted(len(t) for t in TEXTS)
    assert max(map(len, encoder.asked)) == 4


def test_a_text_is_not_padded_to_one_far_longer():
    encoder = Counting()
    encoder.cost = lambda texts: [len(t) for t in texts]
    found = embed(encoder, ["a" * n for n in (10, 100, 9, 74, 8, 75, 7, 6)])
    assert [[len(t) for t in some] for some in encoder.asked] == [[100, 75], [74], [10, 9, 8], [7, 6]]
    assert found.vectors[:, 0].tolist() == [10, 100, 9, 74, 8, 75, 7, 6]


@given(st.lists(st.tuples(st.text(max_size=9), st.integers(-50, 50)), max_size=40), st.integers(1, 9))
def test_whatever_texts_cost_each_is_asked_for_once_in_order_and_in_batches_not_too_large(rows, size):
    costs, encoder = dict(rows), Counting()
    encoder.cost = lambda texts: [costs[t] for t in texts]
    embed(encoder, [text for text, _ in rows], batch_size=size)
    asked = [t for some in encoder.asked for t in some]
    assert sorted(asked) == sorted(costs)
    assert [costs[t] for t in asked] == sorted(costs.values(), reverse=True)
    assert max(map(len, encoder.asked), default=0) <= size


def test_what_is_in_the_store_is_not_encoded_again(tmp_path):
    store = Store(tmp_path)
    first = embed(Counting(IDENTITY), TEXTS[:20], store=store)
    encoder = Counting(IDENTITY)
    second = embed(encoder, TEXTS, store=store)
    assert sorted(t for some in encoder.asked for t in some) == sorted(TEXTS[20:])
    assert np.array_equal(second.vectors[:20], first.vectors)
    third = embed(Counting(IDENTITY), TEXTS, store=Store(tmp_path))
    assert third.encoded == 0
    assert np.array_equal(third.vectors, second.vectors)


def test_half_precision_is_another_identity_and_the_same_again(tmp_path):
    store = Store(tmp_path)
    whole = embed(Counting(IDENTITY), TEXTS, store=store)
    half = embed(Counting(IDENTITY), TEXTS, store=store, half=True)
    assert (half.encoded, half.vectors.dtype) == (30, np.float16)
    assert half.identity != whole.identity
    again = embed(Counting(IDENTITY), TEXTS, store=store, half=True)
    assert again.encoded == 0
    assert again.vectors.dtype == np.float16
    assert np.array_equal(again.vectors, half.vectors)
    with pytest.raises(EncoderError, match="'x' has numbers above 65,504"):
        embed(lambda texts: np.full((len(texts), 2), 1e6), ["x"], half=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_first_and_the_second_run_give_the_same_numbers(tmp_path, dtype):
    class Thirds:
        identity = IDENTITY

        def __call__(self, texts):
            return np.array([[len(t) / 3, 1 / 7] for t in texts], dtype)

    first, second = (embed(Thirds(), TEXTS, store=Store(tmp_path)) for _ in range(2))
    assert second.encoded == 0
    assert first.vectors.dtype == second.vectors.dtype == np.float32
    assert np.array_equal(first.vectors, second.vectors)


def test_without_identity_nothing_is_kept(tmp_path):
    embed(Counting(), TEXTS, store=Store(tmp_path))
    assert embed(Counting(), TEXTS, store=Store(tmp_path)).encoded == 30


def test_layers_are_kept_apart(tmp_path):
    store = Store(tmp_path)
    found = embed(Counting(IDENTITY, ("0", "1", "2")), TEXTS, store=store)
    assert found.vectors.shape == (3, 30, 4)
    assert np.array_equal(found.layer("2"), 3 * found.layer("0"))
    again = embed(Counting(IDENTITY, ("0", "1", "2")), TEXTS, store=store)
    assert again.encoded == 0
    assert np.array_equal(again.vectors, found.vectors)
    assert embed(Counting(IDENTITY, ("0", "2")), TEXTS, store=store).encoded == 0
    assert embed(Counting(IDENTITY, ("0", "3")), TEXTS, store=store).encoded == 30
    with pytest.raises(UsageError, match="no layer '9'; the layers are 0, 1, 2"):
        found.layer("9")


def test_what_was_encoded_before_an_interruption_is_kept(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        embed(Counting(IDENTITY, fail_at=3), TEXTS, store=Store(tmp_path))
    assert embed(Counting(IDENTITY), TEXTS, store=Store(tmp_path)).encoded == 30 - 12


def test_progress_counts_texts():
    told = []
    embed(Counting(), TEXTS, progress=lambda *facts: told.append(facts))
    assert told[0] == ("encode", 0, 30)
    assert told[-1] == ("encode", 30, 30)


@pytest.mark.parametrize(
    "form", [np.float64, np.float32, np.float16, list, tuple, "torch", "bfloat16", "list of torch"]
)
def test_arrays_tensors_and_lists_are_vectors(form):
    torch = pytest.importorskip("torch") if isinstance(form, str) else None

    def encoder(texts):
        rows = [code(t) for t in texts]
        if form in (list, tuple):
            return form(rows)
        if isinstance(form, str):
            if form == "list of torch":
                return [torch.tensor(r, requires_grad=True) for r in rows]
            return torch.tensor(rows, dtype=torch.bfloat16 if form == "bfloat16" else torch.float32)
        return np.array(rows, form)

    found = embed(encoder, ["a", "bb"])
    assert found.vectors.dtype == np.float32
    assert np.allclose(found.vectors, [code("a"), code("bb")], rtol=0.01)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda t: np.zeros((len(t) - 1, 3)), ShapeError, "returned 1 vectors for 2 texts, the first of which is"),
        (lambda t: np.zeros(3), ShapeError, r"array of shape \(3,\) for 2 texts; expected \(texts, dimension\)"),
        (lambda t: np.zeros((len(t), 0)), ShapeError, "dimension 0"),
        (lambda t: [[1.0, 2.0], [1.0]], ShapeError, r"shape \(1,\) for 'short', and \(2,\) for 'a longer text'"),
        (lambda t: [["x"], ["y"]], ShapeError, "expected vectors of one length"),
        (lambda t: np.array([["x"], ["y"]]), ShapeError, "expected numbers"),
        (lambda t: [[[1.0, 2.0], [3.0]] for _ in t], ShapeError, "returned no vector for 'a longer text'"),
        (lambda t: np.array([[1.0], [1.0, 2.0]], object), ShapeError, r"returned shape \(2,\) for 'short'"),
        (lambda t: None, ShapeError, "returned NoneType for a batch that begins with 'a longer text'"),
        (lambda t: np.array([[1.0], [np.nan]]), EncoderError, "for 1 of 2 texts, the first of which is 'short'"),
        (lambda t: np.array([[np.inf], [1.0]]), EncoderError, "which is 'a longer text'"),
        (lambda t: np.array([[1e300], [1.0]]), EncoderError, "infinite numbers for 1 of 2 texts"),  # not in float32
        (lambda t: [[1.0], [1e300]], EncoderError, "which is 'short'"),
        (lambda t: np.ma.masked_array([[1.0], [2.0]], [[0], [1]]), EncoderError, "NaN .* which is 'short'"),
        (lambda t: np.ones((2, 1), complex), ShapeError, "array of complex128; expected numbers"),
        (lambda t: Unreadable(), ShapeError, "returned Unreadable .* cannot be read as vectors: TypeError: float8"),
        (lambda t: 1 / 0, EncoderError, "2 texts that begins with 'a longer text': ZeroDivisionError"),
    ],
)  # fmt: skip
def test_what_is_no_vector_is_told_with_its_text(answer, error, message):
    with pytest.raises(error, match=message):
        embed(answer, ["short", "a longer text"])


def test_a_dimension_that_changes_is_told():
    def encoder(texts):
        return np.zeros((len(texts), len(texts[0])))

    with pytest.raises(ShapeError, match="vectors of 1 numbers for 'b' and of 3 before"):
        embed(encoder, ["aaa", "b"], batch_size=1)


def test_one_string_is_one_text(tmp_path):
    encoder = Counting(IDENTITY)
    found = embed(encoder, "a text", store=Store(tmp_path))
    assert (found.texts, found.vectors.tolist()) == (("a text",), [code("a text")])
    assert encoder.asked == [["a text"]]
    assert Store(tmp_path).read(IDENTITY, "a text")[0].tolist() == [True]
    assert embed(encoder, (text for text in ("a", "b"))).texts == ("a", "b")


@pytest.mark.parametrize("spec", ["static:", "baseline:length", "baseline:random", "baseline:hash", "baseline:words"])
def test_one_string_is_one_text_to_every_encoder(spec):
    encoder = load(spec)
    np.testing.assert_array_equal(encoder("one text"), encoder(["one text"]))
    if hasattr(encoder, "words"):
        np.testing.assert_array_equal(encoder.words("one"), encoder.words(["one"]))


@pytest.mark.parametrize(
    ("texts", "message"), [(["a", 7], "Text 2 of 2 is of type int"), ([b"a"], "bytes; expected a str")]
)
def test_what_is_no_text_is_told(texts, message):
    for call in (lambda: embed(Counting(), texts), lambda: load("static:")(texts)):
        with pytest.raises(UsageError, match=message):
            call()


def test_an_empty_list_of_texts():
    found = embed(Counting(), [])
    assert isinstance(found, Embeddings)
    assert len(found.vectors) == 0


def test_an_encoder_that_looks_at_all_texts_once_is_fitted_on_them(tmp_path):
    vectors = tmp_path / "v.txt"
    vectors.write_text("a 1 0\nb 0 1\nc 1 1\n", "utf-8")
    encoder = load(f"vec:{vectors}?pool=idf")
    found = embed(encoder, ["a b", "a c", "a a"])
    assert np.allclose(found.vectors, encoder.fit(["a b", "a c", "a a"])(["a b", "a c", "a a"]))
    assert found.identity != embed(encoder, ["b"]).identity


def test_an_encoder_that_uses_its_array_again_is_kept_rightly(tmp_path):
    class Reusing:
        identity, batch_size = IDENTITY, 4
        array = np.zeros((4, 4), np.float32)

        def __call__(self, texts):
            self.array[: len(texts)] = [code(t) for t in texts]
            return self.array[: len(texts)]

    first, second = (embed(Reusing(), TEXTS, store=Store(tmp_path)) for _ in range(2))
    assert second.encoded == 0
    assert np.array_equal(first.vectors, np.array([code(t) for t in TEXTS], np.float32))
    assert np.array_equal(second.vectors, first.vectors)


def test_attributes_that_are_something_else_are_not_looked_at(tmp_path):
    class Model:
        identity, layers, cost = "v1", [object()], 3

        def batch(self):
            """Something else."""

        def __call__(self, texts):
            return [code(t) for t in texts]

    assert embed(Model(), TEXTS, store=Store(tmp_path)).vectors.shape == (30, 4)


def test_layers_without_names_are_numbered(tmp_path):
    def encoder(texts):
        return np.ones((3, len(texts), 2)) * np.arange(3)[:, None, None]

    found = embed(encoder, TEXTS, batch_size=7)
    assert found.layers == ("0", "1", "2")
    assert found.layer("2").tolist() == [[2.0, 2.0]] * 30
    encoder.identity = IDENTITY
    with pytest.raises(ShapeError, match="names them in its attribute `layers`"):
        embed(encoder, TEXTS, store=Store(tmp_path))


def test_a_cost_that_fails_is_told_with_a_text():
    encoder = Counting()
    encoder.cost = lambda texts: 1 / 0
    with pytest.raises(EncoderError, match=r"cost\(\) failed on texts that begin with"):
        embed(encoder, TEXTS)


def test_a_cost_for_every_text_is_needed():
    encoder = Counting()
    encoder.cost = lambda texts: [1]
    with pytest.raises(EncoderError, match=rf"cost\(\) gave 1 numbers for {len(set(TEXTS))} texts"):
        embed(encoder, TEXTS)


def test_baselines_are_made_again_and_not_kept(tmp_path):
    embed(load("baseline:random?dim=4"), TEXTS, store=Store(tmp_path))
    assert not list(tmp_path.rglob("*.shard"))


# more than fits in memory


def in_file(array):
    """Whether an array lies in a mapped file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=40),
    st.integers(0, 600),
    st.sampled_from([(), ("0", "1", "2")]),
    st.booleans(),
)
def test_vectors_in_a_file_are_those_in_memory(tmp_path_factory, texts, spill, layers, half):
    store = Store(tmp_path_factory.mktemp("store"))
    wanted = embed(Counting(layers=layers), texts, half=half).vectors
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "READ_BYTES", 64)  # a few vectors at a time
        cut = len(texts) // 2
        embed(Counting(IDENTITY, layers), texts[:cut], store=store, half=half, spill=spill)
        for kept in (None, store, store):
            found = embed(Counting(IDENTITY, layers), texts, store=kept, half=half, spill=spill)
            assert np.array_equal(found.vectors, wanted)
            assert found.vectors.dtype == wanted.dtype
            assert in_file(found.vectors) == (wanted.nbytes > spill)
        assert found.encoded == 0
        assert not in_file(embed(Counting(IDENTITY, layers), texts, store=store, half=half).vectors)


def test_a_file_of_vectors_has_no_name_and_can_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    found = embed(Counting(), TEXTS, spill=0)
    assert in_file(found.vectors)
    assert list((tmp_path / "cache").iterdir()) == []
    found.vectors[0] = 7
    assert found.vectors[0].tolist() == [7] * 4


def test_without_fallocate_a_file_is_filled_beforehand(monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(table, "READ_BYTES", 100)  # which 480 bytes are no multiple of
    found = embed(Counting(), TEXTS, spill=0)
    assert in_file(found.vectors)
    assert np.array_equal(found.vectors, embed(Counting(), TEXTS).vectors)


def test_a_full_disk_is_told_before_anything_is_lost(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    monkeypatch.setattr(table, "_reserve", full)
    with pytest.raises(EncoderError, match=r"take 480 bytes, .* than the 100 that .* has no space for them: No space"):
        embed(Counting(), TEXTS, spill=100)
    assert list(tmp_path.iterdir()) == []
    assert embed(Counting(), TEXTS, spill=480).vectors.shape == (30, 4)


def test_a_cache_folder_that_is_none_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "file"))
    with pytest.raises(EncoderError, match="set SENTPROBE_CACHE to a folder on another disk"):
        embed(Counting(), TEXTS, spill=0)
    with pytest.raises(UsageError, match="spill is -1 bytes; expected 0 or more"):
        embed(Counting(), TEXTS, spill=-1)


def test_a_machine_that_does_not_say_how_much_memory_it_has_keeps_all_in_it(monkeypatch):
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert not in_file(embed(Counting(), TEXTS).vectors)


def peak(call):
    """The most bytes that a call had at any time, beyond what was there."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


class Wide:
    """Vectors of 4,000 bytes."""

    identity, batch_size = IDENTITY, 50

    def __call__(self, texts):
        return np.ones((len(texts), 1000), np.float32)


def test_repeated_texts_and_a_file_take_no_second_copy_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "READ_BYTES", 1 << 18)
    monkeypatch.setattr(table, "COPY_ROWS", 100)
    monkeypatch.setattr(table, "SHARD_ROWS", 100)
    different, store = [f"text {i}" for i in range(2000)], Store(tmp_path)
    repeated, size = [*different[:1000], *different[:1000]], 8_000_000
    embed(Wide(), different[:1], store=store)
    assert size < peak(lambda: embed(Wide(), different)) < 1.5 * size
    assert size < peak(lambda: embed(Wide(), repeated)) < 1.5 * size
    assert peak(lambda: embed(Wide(), repeated, spill=0)) < 0.4 * size
    assert peak(lambda: embed(Wide(), different, spill=0, store=store)) < 0.4 * size
    assert peak(lambda: embed(Wide(), different, spill=0, store=store)) < 0.4 * size  # all from the store
    assert embed(Wide(), different, store=store).encoded == 0


def test_sparse_vectors_are_accepted_where_they_are_asked_for():
    texts, encoder = ["one text", "another", "one text"], load("baseline:hash?dim=32")
    dense, found = embed(encoder, texts), embed(encoder, texts, sparse=True)
    assert (found.texts, found.identity, found.encoded) == (dense.texts, dense.identity, 2)
    assert sparse.issparse(found.vectors)
    assert not sparse.issparse(dense.vectors)
    np.testing.assert_array_equal(found.vectors.toarray(), dense.vectors)
    assert "32 dimensions, float32, baseline:hash" in repr(found)
    half = embed(encoder, texts, sparse=True, half=True)
    assert half.identity == embed(encoder, texts, half=True).identity
    np.testing.assert_array_equal(half.vectors.toarray(), embed(encoder, texts, half=True).vectors.astype(np.float32))


def test_encoders_without_sparse_vectors_have_dense_ones():
    assert isinstance(embed(load("baseline:length"), ["a text"], sparse=True).vectors, np.ndarray)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(
    "spec", ["static:?dim=64", "vec:", "vec:?pool=idf", "baseline:words?dim=16", "baseline:length"]
)
def test_workers_give_the_same_vectors_and_store_them(tmp_path, monkeypatch, spec, half):
    monkeypatch.setattr("sentprobe.encoders.embed.MIN_WORKER_TEXTS", 50)
    (tmp_path / "vectors.txt").write_text("".join(f"w{i} {i} {-i} 0.5\n" for i in range(9)), "utf-8")
    encoder = load(spec.replace("vec:", f"vec:{tmp_path / 'vectors.txt'}"))
    texts = [" ".join(f"w{(i * j) % 11}" for j in range(i % 7 + 1)) + f" {i}" for i in range(120)] * 2
    one = embed(encoder, texts, half=half, batch_size=16)
    calls, steps = [], []
    in_workers = batches.map_in_workers

    def counted(call, arguments, jobs):
        return in_workers(call, (calls.append(a) or a for a in arguments), jobs)

    monkeypatch.setattr(batches, "map_in_workers", counted)
    store = Store(tmp_path / "store")
    two = embed(encoder, texts, store=store, half=half, batch_size=16, jobs=2, progress=lambda *a: steps.append(a))
    assert np.array_equal(one.vectors, two.vectors)
    assert one.vectors.dtype == two.vectors.dtype
    assert (one.identity, one.encoded) == (two.identity, two.encoded)
    assert len(calls) == 8  # of 15 texts at most, or of one batch: some for every worker
    assert steps[-1] == ("encode", 120, 120)
    again = embed(encoder, texts, store=store, half=half, jobs=2)
    assert np.array_equal(again.vectors, one.vectors)
    assert again.encoded == (0 if encoder_info(encoder).cacheable else 120)


def test_workers_encode_only_what_allows_it_and_is_large(monkeypatch):
    monkeypatch.setattr(batches, "map_in_workers", None)
    texts = [f"text {i}" for i in range(200)]
    assert embed(load("baseline:length"), texts, jobs=2).encoded == 200  # too few
    monkeypatch.setattr("sentprobe.encoders.embed.MIN_WORKER_TEXTS", 50)
    assert embed(lambda texts: np.ones((len(texts), 2)), texts, jobs=2).encoded == 200  # a function


def test_a_call_of_a_worker_is_not_too_large(monkeypatch):
    monkeypatch.setattr(batches, "CALL_BYTES", 400)
    places = [list(range(a, a + 4)) for a in range(0, 80, 4)]
    calls = list(batches._calls(places, 2, 50))  # 8 vectors of 50 bytes; without a limit of bytes it would be 10
    assert [len(call) for call in calls] == [2] * 10
    assert [batch for call in calls for batch in call] == places


@pytest.mark.parametrize("folder", [".", "no-such-folder"])
def test_vectors_of_a_worker_come_in_a_file_or_else_without_one(tmp_path, folder):
    texts, encoder = [["one text", "another"], ["a third"]], load("baseline:words?dim=8")
    file = tmp_path / folder / "0"
    sent = batches._encode_all(encoder, texts, (), False, None, file)
    assert (sent is None) == file.exists() == (folder == ".")
    received = list(batches._received(sent, file, 2))
    assert all(np.array_equal(vectors[0], encoder(some)) for vectors, some in zip(received, texts, strict=True))
    assert not file.exists()


def test_an_error_in_a_worker_is_told_as_one_here(monkeypatch):
    monkeypatch.setattr("sentprobe.encoders.embed.MIN_WORKER_TEXTS", 50)
    texts = [f"text {i}" for i in range(100)]
    with pytest.raises(EncoderError, match=r"NaN or infinite numbers for 1 of 100 texts, the first .* 'text 7'"):
        embed(Broken(), texts, batch_size=100, jobs=2)


class Broken:
    parallel = True

    def __call__(self, texts):
        return np.array([[np.nan if text == "text 7" else 1.0] for text in texts])
