"""What users call, and what the errors tell them."""
