"""Makes a warehouse equal to its input: request, plan, private workspace, staging, quality gate, publication."""
