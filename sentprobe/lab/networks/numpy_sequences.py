"""Sentences of different lengths in one array, as ``sequences`` has them for torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.networks.forward import Floats, Ints


def padding_mask(lengths: Ints, time: int) -> NDArray[np.bool_]:
    """(sentences, time): true after the end of a sentence."""
    return np.arange(time) >= lengths[:, None]


def max_over_time(states: Floats, lengths: Ints) -> Floats:
    """The maximum (sentences, width) of states (sentences, time, width), dimension by dimension."""
    found: Floats = np.where(padding_mask(lengths, states.shape[1])[:, :, None], np.float32(-np.inf), states).max(1)
    return found


def sum_over_time(states: Floats, lengths: Ints) -> Floats:
    """The sum (sentences, width) of states (sentences, time, width)."""
    found: Floats = np.where(padding_mask(lengths, states.shape[1])[:, :, None], np.float32(0), states).sum(1)
    return found


def mean_over_time(states: Floats, lengths: Ints) -> Floats:
    """The mean (sentences, width) of states (sentences, time, width)."""
    return np.divide(sum_over_time(states, lengths), lengths[:, None], dtype=np.float32)


def last_state(states: Floats, lengths: Ints) -> Floats:
    """The state (sentences, width) of the last word of each sentence."""
    return states[np.arange(len(states)), lengths - 1]


def selected_shares(states: Floats, lengths: Ints) -> Floats:
    """(sentences, time): the share of dimensions whose maximum over time is at a word; of equal ones the first."""
    mask = padding_mask(lengths, states.shape[1])
    places = np.where(mask[:, :, None], np.float32(-np.inf), states).argmax(1)
    counts = np.zeros(states.shape[:2], np.float32)
    np.add.at(counts, (np.arange(len(states))[:, None], places), np.float32(1))
    return counts / np.float32(states.shape[2])


def sigmoid(x: Floats) -> Floats:
    """The logistic function, which cannot overflow this way."""
    half = np.float32(0.5)
    found: Floats = half * np.tanh(half * x) + half
    return found
