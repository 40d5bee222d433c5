"""`python -m nexus_tools` is `nexus-tools`."""

from nexus_tools.cli import main

main()
