"""DSEBO inside other libraries."""
