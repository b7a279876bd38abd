"""Rows of the table, one module for each subject, as in the registry."""
