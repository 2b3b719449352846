"""Recorded runs of the tau2 benchmark's retail shop: read, import, grade again."""
