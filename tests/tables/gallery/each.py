"""A decorator that runs a test on each piece of the gallery."""

import pytest

from tests.support.amount import rest
from tests.tables.gallery import GALLERY

FIRST = {piece.theme: piece for piece in reversed(GALLERY)}


def each_piece(pieces):
    """Parametrize a test by pieces, the first of each theme first."""
    return pytest.mark.parametrize('piece', [
        piece if piece is FIRST[piece.theme] else rest(piece)
        for piece in pieces], ids=str)
