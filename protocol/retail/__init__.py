"""The market `retail`: a web shop's service desk, after recorded runs of a public benchmark.

    actions ─► rules, queries ─► events ─► transition ─► rows ─► rendering

Source: the retail domain of tau2-bench (Sierra Research, MIT), rewritten from a
description of its behaviour.
"""
