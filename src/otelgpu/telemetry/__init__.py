"""The agent's own telemetry: counts and states of components, sent through the same pipelines."""
