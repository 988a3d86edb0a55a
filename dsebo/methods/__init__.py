"""The methods: one file each, settings and optimizer together."""
