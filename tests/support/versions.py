"""Answers of another library that differ between its versions."""

import re


def numbers(version):
    """Return a version's numbers: (2, 15, 0) for '2.15.0+cu132'."""
    return tuple(map(int, re.findall(r'\d+', version.partition('+')[0])))


def latest(said, version):
    """Return the answer of a version.

    `said` maps the first version with an answer to the answer.
    """
    return said[max((first for first in said
                     if numbers(first) <= numbers(version)), key=numbers)]
