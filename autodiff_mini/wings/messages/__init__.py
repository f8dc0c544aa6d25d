"""A wing: better error messages.

It reads the user's line to say what to write instead, and warns of slips.
Without this folder, errors give the same reasons, but only general advice.
See the page *Errors explained*.
"""

from autodiff_mini.core import seams

TAKEN = {   # by module: the seams that it takes
    'advice': [seams.advise],
    'refusals': [seams.tell, seams.note_refusal, seams.warn_of_lost_refusal],
    'wrong_calls': [seams.refuse_call],
    'argument_checks': [seams.check],
    'progress': [seams.report],
    'rule_results': [seams.ask_rule],
    'tracing_warnings': [seams.with_warnings, seams.count_lines],
}

for module, taken in TAKEN.items():
    for seam in taken:
        seam.take_from(f'messages.{module}')
