"""Runs in a database: tables, leases, reading and writing."""
