"""Settings of this machine: configuration file, environment, networks, keys, deployments.

Start with `settings.py`.
"""
