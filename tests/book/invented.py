"""Invented measurements, for the tables that are made from them."""

import json
from pathlib import Path

SAMPLE = Path(__file__).parent / 'samples/benchmarks.json'
DATA = json.loads(SAMPLE.read_text())

MEASURED = 'Measured on 2001-02-03, one thread of Z80'
