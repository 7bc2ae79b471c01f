"""The benchmarks: what they invent, and what they say of growth."""
