"""`python -m dsebo` is the `dsebo` command."""

from dsebo.cli import main

main()
