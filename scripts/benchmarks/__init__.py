"""How fast it is: a file per figure, each measured beside its peer where there is one."""
