"""The table of what may be fetched, and from where."""

import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest

from sentprobe.data.layouts import LAYOUTS
from sentprobe.errors import UsageError
from sentprobe.transfer.check import PROBING_TASKS
from sentprobe.transfer.remote_sets import RESHAPE_STEPS, remote_sets, select_remote_sets


def test_every_set_has_a_place_and_only_one():
    named = [name for place in remote_sets().values() for name in place.sets]
    assert sorted(named) == sorted([*(name for name in LAYOUTS if name != "STSBenchmark-fix"), *PROBING_TASKS])


def test_a_place_is_fetched_or_says_what_to_do_by_hand():
    for key, place in remote_sets().items():
        assert place.key == key
        assert place.licence
        assert urlsplit(place.page).scheme in ("http", "https")
        assert bool(place.files) != bool(place.manual_steps), key


def test_the_files_of_a_place_are_what_its_layout_expects():
    for key, place in remote_sets().items():
        layout = next((LAYOUTS[name] for name in place.sets if name in LAYOUTS), None)
        assert layout is None or place.home == f"downstream/{layout.home}"
        steps = {file.step for file in place.files} - {""}
        if place.files and layout and layout.files and not steps - {"trec"}:  # the others make files of their own
            assert {target for file in place.files for target in file.targets} == set(layout.files), key


def test_every_file_is_named_limited_and_safe():
    for key, place in remote_sets().items():
        for file in place.files:
            assert bool(file.to) != bool(file.members), key
            assert file.urls
            assert all(urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname for url in file.urls)
            assert re.fullmatch(r"|[0-9a-f]{64}", file.sha256)
            assert re.fullmatch(r"|[0-9a-f]{40}", file.git_blob)
            assert file.has_checksum == bool(file.checksum_source), f"{key}: a sum must say where it is from"
            assert file.limit > 0
            assert bool(file.members) == bool(file.unpacked)
            assert file.step in ("", *RESHAPE_STEPS)
            for target in file.targets:
                assert len(PurePosixPath(target).parts) == 1, target


def test_names_of_sets_and_of_places_may_be_asked_for():
    table = remote_sets()
    assert [p.key for p in select_remote_sets(["SICKEntailment", "sick", "MR", "SICKRelatedness"], table)] == [
        "SICK",
        "MR",
    ]
    assert [p.key for p in select_remote_sets(["Tense", "ImageCaptionRetrieval"], table)] == ["probing", "COCO"]
    with pytest.raises(UsageError, match=r"no set 'STS17' to download\. Did you mean STS1\d\? Expected one of MR, "):
        select_remote_sets(["STS17"], table)
