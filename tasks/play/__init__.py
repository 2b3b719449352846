"""Playing a task: who answers when, what each is given, and how a run of it ends."""
