import pytest

from sentprobe.annotate.conversion import tree_of


def parts(node):
    return None if isinstance(node, str) else node


def test_one_root_whatever_is_on_top():
    inner = ("S", [("NP", [("PRP", ["it"])]), ("VP", [("VBZ", ["rains"])])])
    expected = "(ROOT (S (NP (PRP It)) (VP (VBZ rains))))"
    for node in (inner, ("TOP", [inner]), ("ROOT", [inner]), ("", [inner])):
        assert str(tree_of(node, parts, ("It", "rains"))) == expected


def test_a_single_word():
    assert str(tree_of(("UH", ["yes"]), parts, ("Yes",))) == "(ROOT (UH Yes))"


def test_deep_trees_are_no_problem_up_to_a_limit():
    node = ("NN", ["dog"])
    for _ in range(900):
        node = ("NP", [node])
    assert sum(1 for _ in tree_of(node, parts, ("dog",)).leaves()) == 1
    for _ in range(200):
        node = ("NP", [node])
    with pytest.raises(ValueError, match="more than 1000 levels deep"):
        tree_of(node, parts, ("dog",))


@pytest.mark.parametrize(
    ("node", "forms", "message"),
    [
        (("S", [("NN", ["a"]), ("NN", ["b"])]), ("a",), "expected a tree over 1 words, got one over more"),
        (("S", [("NN", ["a"])]), ("a", "b"), "expected a tree over 2 words, got one over fewer"),
        (("S", [("NN", ["a"]), "b"]), ("a", "b"), "every word of a tree to have a tag"),
        (("S", []), ("a",), "every word of a tree to have a tag"),
    ],
)
def test_trees_that_do_not_fit(node, forms, message):
    with pytest.raises(ValueError, match=message):
        tree_of(node, parts, forms)
