"""Tests: contract tests for every corpus, tests of each part, and what each corpus has of its own."""
