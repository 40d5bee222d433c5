"""Small modules that know nothing of Sui, shared with the rest of `nexus_tools`.

Each module stands alone: text files, units, logs, argument checks, untrusted text.
"""
