"""What test files share: comparisons, rules, and helpers."""
