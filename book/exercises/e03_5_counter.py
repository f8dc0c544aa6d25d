"""An empty file: how much work is a program?

You've seen several interpreters. Now write one yourself, from its first
line. `count(f, 2.0)` runs `f` on 2.0 and returns the number of operations
that your interpreter is asked about. It isn't asked about `np.sin(1.0)`,
because NumPy computes that by itself. But `jvp(np.sin, (1.0,), (1.0,))` asks
its parent about one operation, although its numbers are plain.

There's only a signature in the file. You need a subclass of `Trace`, and
boxes with values in them. When you're done, count the operations of `expit`
and of its slope, for one number and for a batch of ten thousand.
"""

HINTS = (
    'Import `Trace`, `Tracer`, `current_trace`, and `typeof` from '
    '`autodiff_mini.draft.core`. The trace adds up, and `count` reads the '
    'sum from it when the `with` block is over.',
    'All the interpreters have the same four steps. Open your own boxes '
    '(`self.owns`), make the parent the current trace, bind the primitive '
    'with its parameters, and put the result into a box.',
    'The class looks like the answer to exercise e01_3, with one number in '
    'the trace where that one had a number in each box. Give each call of '
    '`count` a trace and a tag of its own.',
)


def count(f, *args):
    """Return the number of operations that the trace is asked about."""
    raise NotImplementedError('exercise e03_5: write the interpreter above')
