"""The task file: a text that becomes a task, and a task's case that becomes a scene to play."""
