"""Laboratory auctions with induced values: one market, one transition for each family of formats.

terms        what fields are made of
session      the run's parameters, its rounds and groups
valuations   values and signals, stated or drawn
results      what a round came to, and what of it is shown
sealed, posted, ascending, descending, proxy, double: a family each, who is due and what is allowed
clock        what the two clocks have in common
words        what a bidder's own words come to
turns        the operator's pass for a party that makes no move
benchmarks   what theory says, from the start rows
world        all of it as one `World`
"""
