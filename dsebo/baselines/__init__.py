"""The methods that DSEBO is compared with, one file each."""
