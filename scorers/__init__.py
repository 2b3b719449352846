"""The judgement: what a recorded run was worth.

    verified run  →  case view (plain JSON)  →  predicates  →  exact score, receipt, report

A scorer reads runs that were verified and nothing else. It never calls a model,
never changes a record, and gives the same score on every rescoring.
"""
