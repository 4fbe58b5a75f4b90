"""An alignment that is served: answers against brute force, what is unknown, what is refused, and background work."""

import sys
import threading
import time

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.cli import main
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.alignment.folder import open_alignment
from sentprobe.lab.alignment.maps import MappedRows, SideMap, WordMap
from sentprobe.lab.word_page import background
from sentprobe.lab.word_page.site import AlignmentSite, PictureRequest, WordRequest
from sentprobe.lab.word_page.spelling import Spellings, edit_distances
from sentprobe.serve import Server
from tests.lab.alignment.planted import write_alignment
from tests.lab.word_page.alignments import ODD, alignment, stretched, words
from tests.serve.runs import running
from tests.serve.test_server import JSON, ask, files, refused


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return alignment(tmp_path_factory.mktemp("words") / "aligned")


@pytest.fixture(scope="module")
def site(folder):
    return finished(AlignmentSite(folder))


@pytest.fixture(scope="module")
def server(folder):
    with running(folder) as found:
        yield finished(found.site) and found


def finished(site, *maps):
    """The site, when CSLS is ready for these maps."""
    for name in maps or ("final",):
        while site.means.of(name) is None:
            assert site.means.state(name).state != "failed"
            time.sleep(0.01)
    return site


def brute_force(path, name="final"):
    """Cosines (n, m), then CSLS and the cosines within either language, as the papers define them."""
    folder = open_alignment(path)
    found = folder.map(next((c for c in folder.checkpoints() if c.name == name), None))
    if name == "before":
        found = WordMap(SideMap(), SideMap())
    one, two = (
        MappedRows(space.vectors, side)[:].astype(np.float64)
        for space, side in zip(folder.spaces(), (found.source, found.target), strict=True)
    )
    cosines = one @ two.T
    r_source = np.sort(cosines, axis=1)[:, -10:].mean(1)
    r_target = np.sort(cosines, axis=0)[-10:].mean(0)
    return cosines, 2 * cosines - r_source[:, None] - r_target, one @ one.T, two @ two.T


def equal(found, scores, names, k=10, but=None):
    """Whether a list is that of the highest scores."""
    order = [row for row in np.argsort(-scores, kind="stable") if row != but][:k]
    assert [item["word"] for item in found] == [names[row] for row in order]
    assert [item["rank"] for item in found] == [row + 1 for row in order]
    assert [item["score"] for item in found] == pytest.approx(scores[order], abs=2e-6)


@pytest.mark.parametrize("name", ["final", "before", "seed-0/epoch-001", "seed-0/refine-001"])
def test_answers_are_those_of_brute_force(folder, site, name):
    finished(site, name)
    cosines, csls, source, target = brute_force(folder, name)
    for row in (0, 6, 123, 399):
        [found] = site.translate(WordRequest(words("s")[row], name))["sides"]
        assert (found["side"], found["rank"]) == ("source", row + 1)
        equal(found["nn"], cosines[row], words("t"))
        equal(found["csls"], csls[row], words("t"))
        equal(found["neighbours"], source[row], words("s"), but=row)
        [back] = site.translate(WordRequest(words("t")[row], name))["sides"]
        assert (back["side"], back["rank"]) == ("target", row + 1)
        equal(back["nn"], cosines[:, row], words("s"))
        equal(back["csls"], csls[:, row], words("s"))
        equal(back["neighbours"], target[row], words("t"), but=row)


@pytest.mark.parametrize("make", [lambda at: alignment(at, ("unit", "center", "unit")), stretched])
def test_any_steps_and_any_matrices(tmp_path, make):
    site = finished(AlignmentSite(make(tmp_path / "aligned")))
    cosines, csls, source, _ = brute_force(tmp_path / "aligned")
    [found] = site.translate(WordRequest(words("s")[77]))["sides"]
    equal(found["nn"], cosines[77], words("t"))
    equal(found["csls"], csls[77], words("t"))
    equal(found["neighbours"], source[77], words("s"), but=77)


def test_a_word_of_both_languages_is_translated_both_ways(site):
    found = site.translate(WordRequest("Paris"))
    assert [side["side"] for side in found["sides"]] == ["source", "target"]
    assert [side["nn"][0]["word"] for side in found["sides"]] == ["Paris", "Paris"]


def test_mapping_makes_the_difference(site):
    before, after = (
        sum(site.translate(WordRequest(words("s")[i], name))["sides"][0]["nn"][0]["word"] == words("t")[i]
            for i in range(11, 91))
        for name in ("before", "final")
    )  # fmt: skip
    assert before < 8
    assert after > 72


@pytest.mark.parametrize(
    ("typed", "meant"), [("paris", "Paris"), ("PARIS", "Paris"), (" New  York ", "new_york"), ("Ｐａｒｉｓ", "Paris")]
)
def test_another_case_is_found(site, typed, meant):
    found = site.translate(WordRequest(typed))
    assert (found["word"], found["instead"]) == (meant, True)
    assert found["sides"][0]["word"] == meant


def test_an_unknown_word_gets_suggestions(site):
    near = words("s")[50]
    found = site.translate(WordRequest(near[:2] + near[3] + near[2] + near[4:]))  # two letters swapped
    assert (found["sides"], found["instead"]) == ([], False)
    assert found["suggestions"][0] == {"side": "source", "word": near}
    assert site.translate(WordRequest("x" * 60))["suggestions"] == []


@settings(max_examples=60, deadline=None)
@given(st.text("abcd", max_size=6), st.lists(st.text("abcd", min_size=1, max_size=6), min_size=1, max_size=5))
def test_edit_distances(word, others):
    def plain(a, b):
        table = {(i, -1): i + 1 for i in range(-1, len(a))} | {(-1, j): j + 1 for j in range(-1, len(b))}
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (x != y))
                if i and j and x == b[j - 1] and a[i - 1] == y:
                    table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
        return table[len(a) - 1, len(b) - 1]

    for other in others:
        codes = np.array([[ord(c) for c in other]], np.uint32)
        assert edit_distances(word, codes)[0] == plain(word, other)
    most = max(1, min(3, len(word) // 3))
    near = sorted((plain(word, o), i) for i, o in enumerate(others) if plain(word, o) <= most)
    assert Spellings(others).similar(word, 9) == [i for _, i in near]


def test_a_word_that_cannot_be_seen_is_shown(site):
    [found] = site.translate(WordRequest(ODD[8][0]))["sides"]
    assert (found["word"], found["shown"]) == ("evil\u202eword", "evil\\u202eword")


def test_the_picture(site):
    found = site.picture(PictureRequest("final"))
    n = len(found["words"]) // 2
    assert n > 200
    ends = [item["word"][1:] for item in found["words"]]
    assert ends[:50] == ends[n : n + 50]
    before, after = (np.array(found[name]).reshape(2, n, 2) for name in ("before", "after"))

    def apart(points):
        """How far pairs are apart, relative to other words."""
        others = np.linalg.norm(points[0] - np.roll(points[1], 1, 0), axis=1).mean()
        return np.linalg.norm(points[0] - points[1], axis=1).mean() / others

    assert apart(after) < 0.35
    assert apart(before) > 0.8
    assert site.picture(PictureRequest("before"))["after"] is None
    early = site.picture(PictureRequest("seed-0/epoch-001"))
    assert (early["words"], early["before"]) == (found["words"], found["before"])
    assert early["after"] != found["after"]


def test_the_maps(server):
    status, headers, body = ask(server, "GET", "/status")
    found = msgspec.json.decode(body)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert [(own["name"], own["label"]) for own in found["maps"]] == [
        ("final", "final"), ("seed-0/epoch-001", "epoch 1"), ("seed-0/refine-001", "refinement 1"),
        ("before", "before mapping"),
    ]  # fmt: skip
    assert found["csls"]["final"] == {"state": "ready", "share": 0.0, "error": None}


def test_csls_is_computed_in_the_background(folder, monkeypatch):
    go, compute, lines = threading.Event(), background.neighbour_means, []

    def slow(one, two):
        assert go.wait(60)
        return compute(one, two)

    monkeypatch.setattr(background, "neighbour_means", slow)
    site = AlignmentSite(folder, lines.append)
    found = site.translate(WordRequest(words("s")[3]))
    assert found["csls"] == "computing"
    assert found["sides"][0]["csls"] is None
    assert len(found["sides"][0]["nn"]) == 10
    assert site.translate(WordRequest(words("s")[3], "before"))["csls"] == "waiting"
    go.set()
    assert finished(site, "final", "before").translate(WordRequest(words("s")[3]))["sides"][0]["csls"]
    assert lines[0] == "CSLS of the map 'final': comparing 400 × 400 words."


def test_progress_is_reported(folder, monkeypatch):
    lines = []
    monkeypatch.setattr(background, "REPORT_SECONDS", -1)
    finished(AlignmentSite(folder, lines.append))
    shares = [int(line.split()[-2]) for line in lines if line.endswith("%.")]
    assert shares == sorted(shares)
    assert shares[-1] == 100


def test_csls_that_fails_is_told(folder, monkeypatch):
    lines, told = [], threading.Event()

    def broken(one, two):
        raise MemoryError("too much")

    monkeypatch.setattr(background, "neighbour_means", broken)
    site = AlignmentSite(folder, lambda line: (lines.append(line), told.set() if "failed" in line else None))
    assert told.wait(60)
    while site.means.state("final").state == "computing":
        time.sleep(0.01)
    assert site.translate(WordRequest("Paris"))["csls"] == "failed"
    assert site.status()["csls"]["final"]["error"] == "MemoryError: too much"
    assert lines[-1] == "CSLS of the map 'final' failed: MemoryError: too much"


def test_the_page(server):
    status, headers, body = ask(server, "GET", "/")
    page = body.decode()
    assert (status, headers["X-Frame-Options"]) == (200, "DENY")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src &#39;none&#39;" in page
    assert "connect-src &#39;self&#39;" in page
    assert "400 words of source.vec" in page


def test_names_are_escaped(tmp_path):
    folder = alignment(tmp_path / "a&b")
    config = msgspec.json.decode((folder / "alignment.json").read_bytes())
    odd = folder / "<script>alert(1)<" / "script>"
    odd.parent.mkdir()
    (folder / "source.vec").rename(odd)
    config["source"]["path"], config["method"] = str(odd), "<i>&"
    write_alignment(folder, config)
    page = AlignmentSite(folder).page().decode()
    assert "<i>" not in page.partition("<main")[0]
    assert "<script>alert" not in page
    assert "&lt;i&gt;&amp;" in page


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/translate", {"word": " "}, "Type a word"),
        ("/translate", {"word": "x" * 201}, "at most 200"),
        ("/translate", {"word": "x", "map": "../../x"}, "There is no map '../../x'"),
        ("/translate", {"word": "x", "map": "seed-0/epoch-002"}, "Did you mean seed-0/epoch-001"),
        ("/picture", {"map": "Final"}, "There is no map 'Final'"),
        ("/translate", {"word": 3}, "Expected JSON such as"),
        ("/translate", {"word": "x", "folder": "/"}, "Expected JSON such as"),
        ("/picture", [], "Expected JSON such as"),
    ],
)
def test_requests_that_cannot_be_met(server, path, body, why):
    assert why in refused(server, 400, "POST", path, msgspec.json.encode(body), JSON)


def test_half_a_character_is_refused(server):
    refused(server, 400, "POST", "/translate", rb'{"word": "\ud83d"}', JSON)
    with pytest.raises(UsageError, match="lone surrogate"):
        server.site.translate(WordRequest("\ud83d"))


@pytest.mark.parametrize(("method", "path"), [("GET", "/alignment.json"), ("GET", "/translate"), ("POST", "/read")])
def test_there_is_nothing_else(server, method, path):
    why = refused(server, 404, method, path, b"{}", JSON)
    assert why == "Expected GET /, GET /status, POST /translate or POST /picture."


def test_other_sites_are_refused(server):
    body = b'{"word": "Paris"}'
    assert ask(server, "POST", "/translate", body, JSON)[0] == 200
    refused(server, 403, "POST", "/translate", body, {**JSON, "Origin": "https://evil.example"})
    refused(server, 403, "POST", "/translate", body, JSON, hosts=["evil.example"])
    refused(server, 415, "POST", "/translate", body, {"Content-Type": "text/plain"})


def test_nothing_is_written(folder):
    before = files(folder)
    with running(folder) as server:
        finished(server.site)
        for path, body in (("/translate", b'{"word": "Paris"}'), ("/picture", b"{}")):
            assert ask(server, "POST", path, body, JSON)[0] == 200
    assert files(folder) == before


def test_spaces_that_changed_are_refused(tmp_path):
    folder = alignment(tmp_path / "aligned")
    path = folder / "target.vec"
    path.write_text(path.read_text().replace("nueva_york", "new_york"))
    with pytest.raises(DataError, match="has changed since"):
        Server(folder)
    path.unlink()
    with pytest.raises(DataError, match=r"target\.vec"):
        Server(folder)


def test_an_alignment_without_a_map_is_refused(tmp_path, monkeypatch, capsys):
    folder = alignment(tmp_path / "aligned")
    with pytest.raises(UsageError, match="leave out --trust"):
        Server(folder, trusted=("py:x.py:f",))
    (folder / "map.safetensors").unlink()
    monkeypatch.setattr(sys, "argv", ["sentprobe", "serve", str(folder)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "no map" in capsys.readouterr().err


def test_what_sentprobe_align_wrote(tmp_path, monkeypatch):
    folder = alignment(tmp_path / "planted")
    (tmp_path / "pairs.txt").write_text("".join(f"{a}\t{b}\n" for a, b in zip(words("s"), words("t"), strict=True)))
    command = ["align", str(folder / "source.vec"), str(folder / "target.vec"), "--dictionary", "pairs.txt"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["sentprobe", *command, "--method", "procrustes", "--refine", "1", "-o", "aligned"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    site = finished(AlignmentSite(tmp_path / "aligned"))
    [found] = site.translate(WordRequest(words("s")[20]))["sides"]
    assert (found["nn"][0]["word"], found["csls"][0]["word"]) == (words("t")[20], words("t")[20])
    labels = [own["label"] for own in site.status()["maps"]]
    assert labels == ["final", "before refinement", "refinement 1", "before mapping"]
