"""Faults that the driver reports: from NVML's events, the kernel log, and GPUs that are lost."""
