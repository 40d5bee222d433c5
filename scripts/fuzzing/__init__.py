"""Inputs that nobody means well with, made by hypothesis from genuine ones."""
