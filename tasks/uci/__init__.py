"""The converter of a retailer's ledger of invoice lines: the UCI data set "Online Retail".

    file ─► lines (`source`) ─► months (`periods`) ─► each a market that begins with what is left of
            earlier sales (`opening`, `sold`) ─► played (`importer`) ─► a run for each, as any other

Of the whole data set, measured 2026-11-30:

    lines               541,909      9,747,747.934 GBP
    sale                531,278     10,655,622.48      cart.checkout 531,278
    cancellation          9,288       −896,812.49      refund.approve 6,936, ledger.adjust 1,828,
                                                       order.cancel 524
    adjustment                3        −11,062.06      ledger.adjust 3
    stock                 1,336              0.00      supply.update 1,336
    not posted                4              0.004     uci.fraction 4: a price of 0.001

    33 runs in 20 s of CPU, verified in 12 (signed: 21 and 15 to 18), with at most 100 MiB resident

Of the 1,828 cancelled lines that are adjustments 1,817 name no sale; of the others' too little was left.

Source: Chen, D. (2015), Online Retail, UCI Machine Learning Repository, doi:10.24432/C5BW33.
"""
