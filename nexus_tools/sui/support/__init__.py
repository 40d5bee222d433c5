"""Small modules that do not depend on Sui. All packages of `nexus_tools` can use them.

For example, the modules handle text files, units, logs, argument checks and untrusted text.
"""
