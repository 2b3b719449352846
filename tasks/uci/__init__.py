"""The converter of a retailer's ledger of invoice lines: the UCI data set "Online Retail"."""
