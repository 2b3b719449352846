"""The linter: a task file is played every way it says and some that it doesn't, and what is wrong is told."""
