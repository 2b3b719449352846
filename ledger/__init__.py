"""The court record: runs and their records, the store, notes, export, replay and audit.

The only room that knows there is a disk. What the records of a market mean is
the law's business (`tollbook.protocol`); here they are kept, proved and checked.
"""
