"""What a panel of runs can tell: one analysis a module, each from scores to a sheet of tables and charts."""
