"""Studies: what the market does beyond one task, each played, replayed and reported."""
