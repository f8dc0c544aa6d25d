"""A wing: better error messages, and tools for debugging.

It reads the user's line to say what to write instead, warns of slips, and
adds `check_grads`, `cost`, `debug_nans`, and `which`.  Without this folder,
errors give the same reasons, but only general advice.  See the page *Errors
explained*.
"""

from autodiff_mini import seams

NAMES = {   # by name: where to import it from, on demand
    'check_grads': 'tools.checking.check_grads',
    'cost': 'tools.costs.cost',
    'debug_nans': 'tools.debugging.debug_nans',
    'NaNError': 'tools.debugging.NaNError',
    'which': 'tools.which.which',
}
TAKEN = {   # by module: the seams that it takes
    'advice': [seams.advise],
    'refusals': [seams.tell, seams.note_refusal, seams.warn_of_lost_refusal],
    'calls': [seams.refuse_call],
    'checks': [seams.check],
    'progress': [seams.report],
    'rules': [seams.ask_rule],
    'methods': [seams.method_of, seams.open_self, seams.check_attributes],
    'slips': [seams.with_warnings, seams.count_lines],
}

for module, taken in TAKEN.items():
    for seam in taken:
        seam.take_from(f'tools.{module}')
