"""The market `commerce`: many buyers and many merchants who look, bargain, pay, send back and refund.

    catalog, policies ─► negotiation ─► agreements ─► orders, payments, books ─► returns, refunds

Each module is one subject: its rows, actions, rules, events and refusals side by side, so that adding an
action touches one file. `world` joins them, `invariants` watches what each decision changed.
"""
