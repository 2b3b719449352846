"""Measures of auctions, and the human bids that they are set beside.

reading      a run as the measures read it: rows, events, what theory says
bids         what each bidder bid in each round, whatever the format
deviations   bids against the benchmark: ratio, direction, size, shares, learning
outcomes     revenue, efficiency, profit, the winner's curse, late bids
trading      double auctions: prices and quotes
turns        answers without a move, moves refused, passes by the operator
measures     all of these as a market's `MARKET`
mixture      three-part mixtures of over-, under- and equilibrium bids, with their bootstrap
human        human references from published shares, and what may be said of them
ordering     formats by scaled deviation, with the share of draws in which it holds
classifier   whether bids alone tell agents from humans (extra `classify`)
"""
