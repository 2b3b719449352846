"""The law: canonical bytes, keys, messages, and each market's rules.

Pure by design: nothing here reads a file, a clock or a random source, and
nothing here knows that there is a disk.
"""
