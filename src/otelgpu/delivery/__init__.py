"""The sending side that all exporters share: encoder, queue, retry, ledger and worker."""
