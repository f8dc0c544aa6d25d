"""Real JAX and PyTorch as second opinions."""
