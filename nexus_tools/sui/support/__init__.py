"""Small modules that do not depend on Sui. All packages of `nexus_tools` can use them.

Examples are text files, units, logs, argument checks and untrusted text.
"""
