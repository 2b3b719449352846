"""Agents and studies of laboratory auctions."""
