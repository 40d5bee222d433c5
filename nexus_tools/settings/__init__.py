"""Settings of this machine: configuration file, environment, networks, keys, deployments.

Begin with `settings.py`.
"""
