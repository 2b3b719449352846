"""The commands, one module each, imported only when asked for.

A module defines `command`, a click command or group, and is named in
`tollbook.tasks.cli.VERBS`. The command gets the `Session`, prints results to
stdout and all else to stderr, and returns an `Exit` (None is `Exit.GOOD`).
"""
