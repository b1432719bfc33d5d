"""`python -m daemon` is `trimtab`."""

from daemon.cli import main

main()
