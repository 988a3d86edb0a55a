"""Files that come with the package: the paper's tables and the bundled runs."""
