# Generated from semconv/registry by `otelgpu semconv generate`: do not edit.
"""Event names of the GPU semantic convention."""

HW_GPU_FAULT = "hw.gpu.fault"
HW_GPU_MEMORY_LEAKED = "hw.gpu.memory.leaked"
