"""Which transfer sets stand in a folder, and where they are looked for."""

import pytest

from sentprobe.data.layouts import LAYOUTS, languages_of, layouts_in, locate
from sentprobe.data.sources import find_sets
from sentprobe.errors import DataError, UsageError
from tests.data.layouts.files import FILES, write, write_all


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """SentEval's folder of data."""
    root = tmp_path_factory.mktemp("SentEval") / "data"
    write_all(root / "downstream")
    write(root, {"probing/past_present.txt": "tr\tPAST\tHe left .\nte\tPRES\tShe stays .\n"})
    return root


def test_each_folder_tells_its_sets(data):
    for name, layout in LAYOUTS.items():
        expected = [other for other, each in LAYOUTS.items() if each.home == layout.home]
        assert list(layouts_in(data / "downstream" / layout.home)) == expected, name


def test_nothing_stands_directly_above(data):
    for above in ("", "downstream", "downstream/SST", "downstream/STS", "probing", "gone"):
        assert layouts_in(data / above) == ()


@pytest.mark.parametrize(("typed", "before"), [("", "downstream/"), ("downstream", "")])
def test_all_sets_are_found_from_every_level(data, typed, before):
    found = {source.name: source.kind for source in find_sets([str(data / typed)])}
    expected = {f"{before}{name}": name for name in LAYOUTS if name != "XNLI"}
    expected |= {f"{before}{language}/XNLI": "XNLI" for language in ("en", "fr")}
    if not typed:
        expected["probing/past_present"] = "senteval"
    assert found == expected


def test_sets_are_found_from_their_own_folder_and_from_one_without_downstream(data, tmp_path):
    for name, layout in LAYOUTS.items():
        found = find_sets([str(data / "downstream" / layout.home)])
        assert name in {source.kind for source in found}
    write(tmp_path / "senteval_data", {name: text for name, text in FILES.items() if name.startswith(("MR/", "SST/"))})
    assert [source.name for source in find_sets([str(tmp_path / "senteval_data")])] == ["MR", "SST2", "SST5"]


def test_every_source_loads(data):
    for source in find_sets([str(data)]):
        found = source.load()
        assert (found.name, found.language) == (source.name, source.language)


def test_a_year_is_told_by_its_folder_or_else_by_a_file_that_only_it_has(tmp_path):
    pair = {"STS.input.headlines.txt": "a\tb\n", "STS.gs.headlines.txt": "1\n"}
    for folder in ("STS2013-en-test", "sts", "mine"):
        write(tmp_path / folder, pair)
    write(tmp_path / "mine", {"STS.input.plagiarism.txt": "a\tb\n"})
    assert layouts_in(tmp_path / "STS2013-en-test") == ("STS13",)
    assert layouts_in(tmp_path / "sts") == ()
    assert layouts_in(tmp_path / "mine") == ("STS16",)


def test_files_with_the_names_of_sst_that_hold_something_else_are_not_taken_for_it(tmp_path):
    (tmp_path / "sentiment-train").write_text('{"text": "x"}\n', "utf-8")
    assert layouts_in(tmp_path) == ()


def test_a_folder_above_a_set_may_tell_its_language(tmp_path):
    sick = {name: text for name, text in FILES.items() if name.startswith("SICK")}
    write(tmp_path / "pl", sick)
    write(tmp_path / "polish", sick)
    found = {source.name: source.language for source in find_sets([str(tmp_path)])}
    assert found["pl/SICKEntailment"] == "pl"
    assert found["polish/SICKEntailment"] is None


def test_a_set_is_located_at_every_level(data, tmp_path):
    for name, layout in LAYOUTS.items():
        home = data / "downstream" / layout.home
        assert locate(name, data) == locate(name, data / "downstream") == locate(name, home) == home
    write(tmp_path, {"SST/sentiment-train": "a fine film .\t1\n"})
    assert locate("SST2", tmp_path) == tmp_path / "SST"


def test_a_set_that_is_not_there_is_told_with_the_places_and_a_way_to_get_it(tmp_path):
    with pytest.raises(DataError) as caught:
        locate("MR", tmp_path)
    for said in (str(tmp_path / "downstream/MR"), "rt-polarity.pos", f"`sentprobe data get MR -o {tmp_path}`"):
        assert said in str(caught.value)
    with pytest.raises(UsageError, match="no transfer set 'SST'"):
        locate("SST", tmp_path)


def test_only_xnli_has_several_languages(data):
    assert languages_of("XNLI", data / "downstream/XNLI") == ("en", "fr")
    assert languages_of("CDSEntailment", data / "downstream/CDS") == ("pl",)
    assert languages_of("MR", data / "downstream/MR") == (None,)
