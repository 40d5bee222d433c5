"""Small modules that know nothing of Sui, shared with the rest of `nexus_tools`.

The modules do not depend on each other: text files, units, logs, argument checks, untrusted text.
"""
