"""Pickles of Python 2, opcode by opcode: what its cPickle wrote with protocol 2, but for the memo."""

import struct

import numpy

NONE, FALSE = b"N", b"\x89"


def string(content):
    """A ``str`` of Python 2, which is bytes."""
    raw = content if isinstance(content, bytes) else content.encode("latin-1")
    return b"T" + struct.pack("<i", len(raw)) + raw


def unicode(text):
    return b"X" + struct.pack("<i", len(text.encode())) + text.encode()


def number(n):
    return b"J" + struct.pack("<i", n)


def found(module, name):
    return f"c{module}\n{name}\n".encode()


def several(*items):
    return b"(" + b"".join(items) + b"t"


def listed(*items):
    return b"](" + b"".join(items) + b"e"


def keyed(**items):
    return paired(*((string(key), value) for key, value in items.items()))


def paired(*items):
    return b"}(" + b"".join(key + value for key, value in items) + b"u"


def called(function, *arguments):
    return function + several(*arguments) + b"R"


def kind(code="f4", order="<"):
    made = called(found("numpy", "dtype"), string(code), number(0), number(1))
    return made + several(number(3), string(order), NONE, NONE, NONE, number(-1), number(-1), number(0)) + b"b"


def array(values, code="f4", order="<", raw=None):
    numbers = numpy.array(values, order + code)
    empty = called(
        found("numpy.core.multiarray", "_reconstruct"), found("numpy", "ndarray"), several(number(0)), string("b")
    )
    content = string(numbers.tobytes()) if raw is None else raw
    shape = several(*map(number, numbers.shape))
    return empty + several(number(1), shape, kind(code, order), FALSE, content) + b"b"


def scalar(value):
    return called(found("numpy.core.multiarray", "scalar"), kind("i8"), string(struct.pack("<q", value)))


def pickled(content):
    return b"\x80\x02" + content + b"."


def coco(features, captions):
    """As SentEval's files are: features, and the captions by ids that the images refer to."""
    ids = iter(range(100, 10_000))
    images, texts = [], []
    for said in captions:
        mine = [next(ids) for _ in said]
        images.append(listed(*map(number, mine)))
        texts += [(number(i), keyed(cleaned_caption=string(caption))) for i, caption in zip(mine, said, strict=True)]
    return pickled(
        keyed(
            features=features,
            image_to_caption_ids=paired(*((number(i), image) for i, image in enumerate(images))),
            captions=paired(*texts),
        )
    )
