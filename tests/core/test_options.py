"""An option is declared once: a field of a dataclass is a keyword of the function and an option of the verb."""

import inspect
import re
from dataclasses import dataclass, fields

import pytest
from cyclopts import Group

from sentprobe import evaluate
from sentprobe.cli._options import with_options
from sentprobe.core.arguments import GROUP, Setting, StringsOrPaths, as_parameters, describe_fields, option, takes
from sentprobe.errors import UsageError
from sentprobe.run.options import RunOptions
from tests.command_line import sentprobe


@dataclass(frozen=True, kw_only=True)
class Options:
    """Some options.

    Parameters
    ----------
    rows
        How many rows,
        on two lines.
    names
        Some names.
    hidden
        Not for the command line.
    """

    rows: int | None = option(None, "Heading")
    names: StringsOrPaths = option((), "Heading")  # noqa: RUF009 - a tuple
    hidden: float = 0.5


@takes(Options)
def function(first: int, second: int, third: int, options: Options) -> tuple[int, Options]:
    """Do something.

    Parameters
    ----------
    first, second, third
        Numbers.

    Returns
    -------
    tuple
        Their sum, and the options.
    """
    return first + second + third, options


def test_a_function_takes_the_fields_as_keywords():
    assert function(1, 2, 3, rows=5, hidden=2.0) == (6, Options(rows=5, hidden=2.0))
    assert function(1, 2, third=3) == (6, Options())
    assert [*inspect.signature(function).parameters] == ["first", "second", "third", "rows", "names", "hidden"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'row'"):
        function(1, 2, 3, row=5)


def test_the_description_of_a_field_is_that_of_the_keyword_and_of_the_option():
    assert describe_fields(Options)["rows"].split() == "How many rows, on two lines.".split()
    doc = inspect.getdoc(function)
    assert (
        doc.index("Numbers.")
        < doc.index("How many rows,")
        < doc.index("Not for the command line.")
        < doc.index("Returns")
    )

    @with_options(Options, [Group("Heading")], before="last", leave_out=("names",))
    def verb(*, first: int = 1, last: int = 2, **options: object) -> int:
        """Help.

        Parameters
        ----------
        first: int
            The first.
        """
        return first

    assert [*inspect.signature(verb).parameters] == ["first", "rows", "last"]
    assert "How many rows," in verb.__doc__
    assert "Some names" not in verb.__doc__


def test_only_fields_with_a_heading_are_on_the_command_line():
    assert as_parameters(Options) == [
        ("rows", int | None, None, "Heading"),
        ("names", tuple[str, ...], (), "Heading"),
    ]


def test_every_option_of_a_run_is_described_once():
    names = [f.name for f in fields(RunOptions)]
    assert [*describe_fields(RunOptions)] == names
    assert set(names) <= set(inspect.signature(evaluate).parameters)
    said = re.sub(r"[\s│]+", " ", sentprobe("run", "--help").stdout)
    for f in fields(RunOptions):
        if GROUP in f.metadata:
            assert f"--{f.name.replace('_', '-')} " in said
            assert " ".join(describe_fields(RunOptions)[f.name].split()) in said


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"batch_size": 0}, r"a batch \(--batch-size\) of 1 or more, got 0"),
        ({"probe_seeds": ()}, "at least one probe and one seed"),
        ({"probes": "linaer"}, "linaer"),
        ({"controls": "permutd"}, "Did you mean permuted"),
        ({"measure_rows": 1}, "rows for measures of 2 or more"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(wrong, says):
    with pytest.raises(UsageError, match=says):
        RunOptions(**wrong)
    with pytest.raises(UsageError, match=says):
        evaluate("static:", [], "nowhere", **wrong)


def test_a_setting_says_at_once_that_its_default_is_out_of_range():
    with pytest.raises(UsageError, match=r"a penalty: the default 0\.1 is not a number, 1 or more; give low"):
        Setting(0.1, "a penalty")
    assert Setting(0.1, "a penalty", low=0).parse("penalty", "0.5") == 0.5
