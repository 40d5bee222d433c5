"""Chromium for tests and screenshots, and axe-core, which checks accessibility."""
