"""Processes on GPUs: lists, records checked before use, and samples of their utilization."""
