"""Pipeline data: what a metric is, its streams, batches of points, and events."""
