"""The GPU semantic convention: generated constants, and the tools that read, check and generate."""
