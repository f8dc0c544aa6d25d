"""Traces, trees, memory, and signatures."""
