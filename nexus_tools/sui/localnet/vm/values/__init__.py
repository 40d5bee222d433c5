"""Values of the virtual machine, their sizes and their binary form. Start with `values.py`."""
