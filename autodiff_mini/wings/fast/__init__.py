"""A wing: a second compiler, for speed alone.

Its modules are imported when a program is compiled or differentiated.
Without this folder, programs are slower, and the last digits can differ in
loops.
"""

from autodiff_mini.core import seams

seams.lower.take_from('fast.compiler')
seams.jvp.take_from('fast.leaves')
seams.vmap.take_from('fast.leaves')
seams.short_gradient.take_from('fast.short_road')
seams.short_call.take_from('fast.rules_on_tape')
seams.recall.take_from('fast.equal_programs')
