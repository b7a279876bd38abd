"""Builds the components of a configuration into pipelines, and runs them."""
