"""The integrity cases: what has to hold of any ledger of this market, shown on a scratch one.

Source: spec/commerce.md A5.
"""
