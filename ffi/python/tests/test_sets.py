"""Sets have the answers of Python's sets, and the texts of hwloc's programs."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topobroker import Set

indexes = st.sets(st.integers(0, 300), max_size=40)


@given(indexes, indexes)
def test_operations_are_those_of_sets_of_python(one: set[int], other: set[int]) -> None:
    a, b = Set(one), Set(other)
    assert set(a | b) == one | other
    assert set(a & b) == one & other
    assert set(a - b) == one - other
    assert set(a ^ b) == one ^ other
    assert (a <= b, a < b, a >= b, a > b) == (one <= other, one < other, one >= other, one > other)
    assert (a == b, a != b) == (one == other, one != other)
    assert a.isdisjoint(other) == one.isdisjoint(other)
    assert a.issubset(other) == one.issubset(other)
    assert (len(a), bool(a), list(a)) == (len(one), bool(one), sorted(one))
    assert all((index in a) == (index in one) for index in range(301))
    assert hash(a) == hash(frozenset(one)) and a == frozenset(one) and a == one and (a == other) == (one == other)
    assert -1 not in a and "a" not in a and None not in a


@given(indexes)
def test_a_set_is_made_again_of_each_of_its_forms(own: set[int]) -> None:
    made = Set(own)
    for form in (made, list(own), frozenset(own), int(made), str(made), made.to_text("hwloc"), made.to_text("taskset")):
        assert Set(form) == made
    for inverse in (~made, Set(int(~made)), Set((~made).to_text("hwloc")), Set(str(~made))):
        assert inverse == ~made and inverse.is_infinite and set(made) == set(~inverse)
    assert pickle.loads(pickle.dumps(made)) == made
    assert (made.first, made.last) == (min(own, default=None), max(own, default=None))


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_range_is_its_indexes(first: int, end: int) -> None:
    assert list(Set(range(first, end))) == list(range(first, end))
    assert list(Set(range(first, end, 3))) == list(range(first, end, 3))


@given(st.integers())
def test_the_bits_of_an_int_are_the_indexes(bits: int) -> None:
    made = Set(bits)
    assert int(made) == bits and made.is_infinite == (bits < 0)
    assert all((index in made) == bool(bits >> index & 1) for index in range(200))


HWLOC_CALC = shutil.which("hwloc-calc")
operations: dict[str, Callable[[Set, Set], Set]] = {
    "": lambda a, b: a | b,
    "~": lambda a, b: a - b,
    "x": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
}


@pytest.mark.skipif(HWLOC_CALC is None, reason="hwloc-calc is not installed")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(operations)), st.sets(st.integers(0, 255))), min_size=1, max_size=4))
def test_hwloc_calc_has_the_same_results_and_texts(steps: list[tuple[str, set[int]]]) -> None:
    own, words = Set(), []
    for sign, operand in steps:
        own = operations[sign](own, Set(operand))
        words.append(sign + Set(operand).to_text("hwloc"))
    call: Any = [HWLOC_CALC, "-i", "pu:256", *words]
    theirs = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    assert own.to_text("hwloc") == theirs
    call = [HWLOC_CALC, "-i", "pu:256", "--taskset", *words]
    theirs = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    assert own.to_text("taskset") == theirs


def test_the_affinity_of_a_process_goes_in_and_out() -> None:
    before = os.sched_getaffinity(0)
    one = Set(before).singlify()
    os.sched_setaffinity(0, one)
    assert Set(os.sched_getaffinity(0)) == one
    os.sched_setaffinity(0, Set(before))


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ("0-", None, ""),
        ("3-1", ValueError, "3-1"),
        ("0x1g", ValueError, "0x1g"),
        ([-1], ValueError, "-1 is no index"),
        ([1 << 40], ValueError, "expected 0 to"),
        (range(1 << 30), ValueError, "no index"),
        (1.5, TypeError, "float is no set"),
        (None, None, ""),
    ],
)
def test_what_is_no_set_is_an_error_that_says_what_was_expected(wrong: Any, error: Any, says: str) -> None:
    if error is None:
        Set(wrong)
        return
    with pytest.raises(error, match=says):
        Set(wrong)


def test_an_int_of_too_many_bits_is_an_error() -> None:
    with pytest.raises(ValueError, match="too many"):
        Set(1 << (1 << 25))


def test_an_infinite_set_has_no_length_and_no_end() -> None:
    everything = ~Set()
    for ask in (len, list):
        with pytest.raises(OverflowError, match="infinite"):
            ask(everything)
    assert 12345 in everything and everything.last is None
