"""Configuration: YAML files in the Collector's form become checked settings objects."""
