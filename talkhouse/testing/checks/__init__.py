"""What holds for every corpus: a function for each thing, which raises ContractFailure where it does not hold."""
