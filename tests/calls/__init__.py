"""Functions as operands: custom rules, `jit`, branches, loops."""
