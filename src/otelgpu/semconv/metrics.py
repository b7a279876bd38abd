# Generated from semconv/registry by `otelgpu semconv generate`: do not edit.
# fmt: off
"""Metrics of the GPU semantic convention."""

from otelgpu.points.metric import Instrument, Metric, Profile, ValueType

SCHEMA_URL = "https://otelgpu.dev/schemas/0.1.0"
"""Version of this convention; it goes with the scope of our points."""
OFFICIAL_SCHEMA_URL = "https://opentelemetry.io/schemas/1.44.0"
"""Version of OpenTelemetry's conventions; it goes with the Resource."""

HW_ENERGY = Metric("hw.energy", "J", Instrument.COUNTER, ValueType.DOUBLE, "Energy that the GPU has consumed.", Profile.MINIMAL, 0, 1000000000000000)
HW_ERRORS = Metric("hw.errors", "{error}", Instrument.COUNTER, ValueType.INT, "Errors of the GPU since its driver was loaded.", Profile.MINIMAL, 0, 9223372036854775807)
HW_FAN_SPEED = Metric("hw.fan.speed", "rpm", Instrument.GAUGE, ValueType.INT, "Fan speed in revolutions per minute.", Profile.STANDARD, 0, 100000)
HW_FAN_SPEED_RATIO = Metric("hw.fan.speed_ratio", "1", Instrument.GAUGE, ValueType.DOUBLE, "Fan speed as a fraction of its highest.", Profile.STANDARD, 0, 2)
HW_GPU_ALLOCATION_COUNT = Metric("hw.gpu.allocation.count", "{allocation}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Workload allocations on the device: 1 per holder, one point of 0 without holder when free.", Profile.MINIMAL, 0, 1000000)
HW_GPU_ALLOCATION_FRACTION = Metric("hw.gpu.allocation.fraction", "1", Instrument.GAUGE, ValueType.DOUBLE, "Part of the device that each holder was given: 1 exclusive, 1/n time-sliced, share of a partition or quota.", Profile.MINIMAL, 0, 1)
HW_GPU_CLOCK_FREQUENCY = Metric("hw.gpu.clock.frequency", "Hz", Instrument.GAUGE, ValueType.INT, "Present clock of a domain.", Profile.STANDARD, 0, 100000000000)
HW_GPU_CLOCK_LIMIT = Metric("hw.gpu.clock.limit", "Hz", Instrument.GAUGE, ValueType.INT, "Clock limit of a domain.", Profile.FULL, 0, 100000000000)
HW_GPU_COMPUTE_UNIT_COUNT = Metric("hw.gpu.compute_unit.count", "{compute_unit}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Compute units of the GPU or partition.", Profile.FULL, 0, 100000)
HW_GPU_COMPUTE_UNIT_OCCUPANCY = Metric("hw.gpu.compute_unit.occupancy", "1", Instrument.GAUGE, ValueType.DOUBLE, "Resident waves as a fraction of the most that fit.", Profile.STANDARD, 0, 1.01)
HW_GPU_COMPUTE_UNIT_UTILIZATION = Metric("hw.gpu.compute_unit.utilization", "1", Instrument.GAUGE, ValueType.DOUBLE, "Fraction of compute-unit (SM/CU/Xe-core) cycles with at least one wave resident.", Profile.STANDARD, 0, 1.01)
HW_GPU_ENGINE_TIME = Metric("hw.gpu.engine.time", "s", Instrument.COUNTER, ValueType.DOUBLE, "Time that engines of a task were busy.", Profile.FULL, 0)
HW_GPU_FABRIC_STATUS = Metric("hw.gpu.fabric.status", "{status}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the state of the registration with the NVLink fabric, 0 for the others.", Profile.STANDARD, 0, 1)
HW_GPU_FAULT_LAST_OCCURRENCE = Metric("hw.gpu.fault.last_occurrence", "s", Instrument.GAUGE, ValueType.DOUBLE, "Time of the last fault of a code, in seconds since the Unix epoch.", Profile.MINIMAL, 0)
HW_GPU_FAULTS = Metric("hw.gpu.faults", "{fault}", Instrument.COUNTER, ValueType.INT, "Driver-reported faults seen since the agent started.", Profile.MINIMAL, 0, 9223372036854775807)
HW_GPU_HEATING_MARGIN = Metric("hw.gpu.heating_margin", "Cel", Instrument.GAUGE, ValueType.DOUBLE, "Degrees left before the nearest slowdown threshold.", Profile.STANDARD, -200, 250)
HW_GPU_INFO = Metric("hw.gpu.info", "{gpu}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Always 1; its attributes describe the GPU.", Profile.MINIMAL, 1, 1)
HW_GPU_IO = Metric("hw.gpu.io", "By", Instrument.COUNTER, ValueType.INT, "Bytes that the GPU has received and transmitted.", Profile.STANDARD, 0, 9223372036854775807)
HW_GPU_LIFETIME_ERRORS = Metric("hw.gpu.lifetime_errors", "{error}", Instrument.COUNTER, ValueType.INT, "Errors over the life of the GPU, kept across reboots.", Profile.STANDARD, 0, 9223372036854775807)
HW_GPU_LINK_BANDWIDTH_LIMIT = Metric("hw.gpu.link.bandwidth.limit", "By/s", Instrument.UPDOWNCOUNTER, ValueType.INT, "Rated link bandwidth.", Profile.FULL, 0, 1000000000000000)
HW_GPU_LINK_COUNT = Metric("hw.gpu.link.count", "{link}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Links of the GPU by state.", Profile.STANDARD, 0, 1000)
HW_GPU_LINK_ERRORS = Metric("hw.gpu.link.errors", "{error}", Instrument.COUNTER, ValueType.INT, "Errors found on a link.", Profile.STANDARD, 0, 9223372036854775807)
HW_GPU_LINK_THROUGHPUT = Metric("hw.gpu.link.throughput", "By/s", Instrument.GAUGE, ValueType.INT, "Momentary link traffic, for sources without byte counters.", Profile.FULL, 0, 1000000000000000)
HW_GPU_MEMORY_BANDWIDTH_LIMIT = Metric("hw.gpu.memory.bandwidth.limit", "By/s", Instrument.UPDOWNCOUNTER, ValueType.INT, "Peak device-memory bandwidth.", Profile.FULL, 0, 1000000000000000)
HW_GPU_MEMORY_BANDWIDTH_UTILIZATION = Metric("hw.gpu.memory.bandwidth.utilization", "1", Instrument.GAUGE, ValueType.DOUBLE, "Device-memory traffic as a fraction of peak bandwidth.", Profile.STANDARD, 0, 1.01)
HW_GPU_MEMORY_FREE = Metric("hw.gpu.memory.free", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "GPU memory that can still be allocated.", Profile.STANDARD, 0, 1125899906842624)
HW_GPU_MEMORY_IO = Metric("hw.gpu.memory.io", "By", Instrument.COUNTER, ValueType.INT, "Bytes read from and written to device memory.", Profile.FULL, 0, 9223372036854775807)
HW_GPU_MEMORY_LIMIT = Metric("hw.gpu.memory.limit", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "Size of the GPU memory.", Profile.MINIMAL, 0, 1125899906842624)
HW_GPU_MEMORY_REGION_LIMIT = Metric("hw.gpu.memory.region.limit", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "Size of a memory region other than the device memory proper.", Profile.FULL, 0, 1125899906842624)
HW_GPU_MEMORY_REGION_USAGE = Metric("hw.gpu.memory.region.usage", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "Used part of a memory region other than the device memory proper.", Profile.FULL, 0, 1125899906842624)
HW_GPU_MEMORY_REMAPPED_ROW_COUNT = Metric("hw.gpu.memory.remapped_row.count", "{row}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Memory rows remapped.", Profile.STANDARD, 0, 1000000000)
HW_GPU_MEMORY_REPAIR_STATUS = Metric("hw.gpu.memory.repair.status", "{status}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the state that memory repair is in, 0 for the others.", Profile.STANDARD, 0, 1)
HW_GPU_MEMORY_REPAIR_BANK_COUNT = Metric("hw.gpu.memory.repair_bank.count", "{bank}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Memory banks by spare rows left.", Profile.FULL, 0, 1000000)
HW_GPU_MEMORY_RESERVED = Metric("hw.gpu.memory.reserved", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "GPU memory that driver and firmware keep.", Profile.FULL, 0, 1125899906842624)
HW_GPU_MEMORY_RETIRED_PAGE_COUNT = Metric("hw.gpu.memory.retired_page.count", "{page}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Memory pages retired.", Profile.STANDARD, 0, 1000000000)
HW_GPU_MEMORY_UNATTRIBUTED = Metric("hw.gpu.memory.unattributed", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "Used GPU memory that no live, visible process accounts for.", Profile.STANDARD, 0, 1125899906842624)
HW_GPU_MEMORY_USAGE = Metric("hw.gpu.memory.usage", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "GPU memory used.", Profile.MINIMAL, 0, 1125899906842624)
HW_GPU_MEMORY_UTILIZATION = Metric("hw.gpu.memory.utilization", "1", Instrument.GAUGE, ValueType.DOUBLE, "Fraction of GPU memory used.", Profile.STANDARD, 0, 1)
HW_GPU_PCIE_GENERATION_CURRENT = Metric("hw.gpu.pcie.generation.current", "{generation}", Instrument.GAUGE, ValueType.INT, "PCIe generation of the link now (drops when idle).", Profile.FULL, 0, 20)
HW_GPU_PCIE_GENERATION_MAX = Metric("hw.gpu.pcie.generation.max", "{generation}", Instrument.GAUGE, ValueType.INT, "Highest PCIe generation of GPU and slot.", Profile.FULL, 0, 20)
HW_GPU_PCIE_WIDTH_CURRENT = Metric("hw.gpu.pcie.width.current", "{lane}", Instrument.GAUGE, ValueType.INT, "PCIe lanes in use.", Profile.STANDARD, 0, 64)
HW_GPU_PCIE_WIDTH_MAX = Metric("hw.gpu.pcie.width.max", "{lane}", Instrument.GAUGE, ValueType.INT, "PCIe lanes that GPU and slot support.", Profile.STANDARD, 0, 64)
HW_GPU_PERFORMANCE_STATE = Metric("hw.gpu.performance_state", "{pstate}", Instrument.GAUGE, ValueType.INT, "Performance state, 0 is fastest (NVIDIA P0..P15).", Profile.FULL, 0, 32)
HW_GPU_PIPE_UTILIZATION = Metric("hw.gpu.pipe.utilization", "1", Instrument.GAUGE, ValueType.DOUBLE, "Fraction of cycles in which a pipe was active.", Profile.STANDARD, 0, 1.01)
HW_GPU_POWER_AVERAGE = Metric("hw.gpu.power.average", "W", Instrument.GAUGE, ValueType.DOUBLE, "Power averaged over the vendor's window (about 1 s).", Profile.STANDARD, 0, 20000)
HW_GPU_POWER_LIMIT = Metric("hw.gpu.power.limit", "W", Instrument.UPDOWNCOUNTER, ValueType.DOUBLE, "Power limit of the GPU.", Profile.STANDARD, 0, 20000)
HW_GPU_POWER_PEAK = Metric("hw.gpu.power.peak", "W", Instrument.GAUGE, ValueType.DOUBLE, "Highest power in the driver's own samples since the previous read.", Profile.FULL, 0, 20000)
HW_GPU_PROCESS_COUNT = Metric("hw.gpu.process.count", "{process}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Processes that hold a context on the GPU.", Profile.FULL, 0, 1000000)
HW_GPU_RECOVERY_STATUS = Metric("hw.gpu.recovery.status", "{status}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the recovery action the driver asks for, 0 for the others.", Profile.STANDARD, 0, 1)
HW_GPU_THROTTLE_STATUS = Metric("hw.gpu.throttle.status", "{status}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 while a reason holds clocks down, else 0; several may hold at once.", Profile.STANDARD, 0, 1)
HW_GPU_THROTTLE_TIME = Metric("hw.gpu.throttle.time", "s", Instrument.COUNTER, ValueType.DOUBLE, "Time for which a reason held clocks down.", Profile.STANDARD, 0)
HW_GPU_UTILIZATION = Metric("hw.gpu.utilization", "1", Instrument.GAUGE, ValueType.DOUBLE, "Fraction of time spent in a task.", Profile.MINIMAL, 0, 1.01)
HW_GPU_VGPU_LICENSE_STATUS = Metric("hw.gpu.vgpu.license.status", "{status}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the state of the license of a virtual GPU, 0 for the others.", Profile.FULL, 0, 1)
HW_GPU_WORKLOAD_ACTIVE_TIME = Metric("hw.gpu.workload.active.time", "s", Instrument.COUNTER, ValueType.DOUBLE, "Activity (0 to 1: compute-unit activity where known, else utilization) integrated over the allocated time.", Profile.MINIMAL, 0)
HW_GPU_WORKLOAD_ALLOCATED_TIME = Metric("hw.gpu.workload.allocated.time", "s", Instrument.COUNTER, ValueType.DOUBLE, "Time for which a holder has held the device, weighted by its fraction.", Profile.MINIMAL, 0)
HW_GPU_WORKLOAD_ENERGY = Metric("hw.gpu.workload.energy", "J", Instrument.COUNTER, ValueType.DOUBLE, "Energy of the device while a holder held it, weighted by its fraction.", Profile.MINIMAL, 0, 1000000000000000)
HW_GPU_WORKLOAD_IDLE_TIME = Metric("hw.gpu.workload.idle.time", "s", Instrument.COUNTER, ValueType.DOUBLE, "Allocated time in which activity was under the idle threshold.", Profile.MINIMAL, 0)
HW_GPU_WORKLOAD_MEMORY_LIMIT = Metric("hw.gpu.workload.memory.limit", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "GPU memory that a holder may use on the device.", Profile.MINIMAL, 0, 1125899906842624)
HW_GPU_WORKLOAD_MEMORY_USAGE = Metric("hw.gpu.workload.memory.usage", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "GPU memory that a holder's processes hold on the device.", Profile.MINIMAL, 0, 1125899906842624)
HW_GPU_WORKLOAD_UNKNOWN_TIME = Metric("hw.gpu.workload.unknown.time", "s", Instrument.COUNTER, ValueType.DOUBLE, "Allocated time in which activity was not known.", Profile.MINIMAL, 0)
HW_GPU_WORKLOAD_UTILIZATION = Metric("hw.gpu.workload.utilization", "1", Instrument.GAUGE, ValueType.DOUBLE, "Share of device time that a holder's processes used since the previous scrape.", Profile.MINIMAL, 0, 2)
HW_POWER = Metric("hw.power", "W", Instrument.GAUGE, ValueType.DOUBLE, "Instantaneous power that the GPU consumes.", Profile.MINIMAL, 0, 20000)
HW_STATUS = Metric("hw.status", "1", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the operational state of the GPU, 0 for the others.", Profile.MINIMAL, 0, 1)
HW_TEMPERATURE = Metric("hw.temperature", "Cel", Instrument.GAUGE, ValueType.DOUBLE, "Temperature at a sensor of the GPU.", Profile.MINIMAL, -50, 200)
HW_TEMPERATURE_LIMIT = Metric("hw.temperature.limit", "Cel", Instrument.GAUGE, ValueType.DOUBLE, "Temperature limit at a sensor of the GPU.", Profile.FULL, -50, 250)
HW_VOLTAGE = Metric("hw.voltage", "V", Instrument.GAUGE, ValueType.DOUBLE, "Voltage at a sensor of the GPU.", Profile.FULL, 0, 100)
K8S_CONTAINER_GPU_REQUEST = Metric("k8s.container.gpu.request", "{gpu}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Devices that a container's spec asks for.", Profile.FULL, 0, 1000000)
K8S_NODE_GPU_ALLOCATABLE = Metric("k8s.node.gpu.allocatable", "{gpu}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Devices that the node can hand out.", Profile.FULL, 0, 1000000)
OTELGPU_AGENT_RESTARTS = Metric("otelgpu.agent.restarts", "{restart}", Instrument.COUNTER, ValueType.INT, "Times that the agent drained and executed itself anew, by reason.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_ALLOCATION_UNATTRIBUTED = Metric("otelgpu.allocation.unattributed", "{allocation}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Allocations whose device or holder could not be found, by reason.", Profile.MINIMAL, 0, 1000000)
OTELGPU_ATTRIBUTION_DISAGREEMENT = Metric("otelgpu.attribution.disagreement", "{device}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Devices on which allocation and running processes name different holders.", Profile.MINIMAL, 0, 1000000)
OTELGPU_CLOCK_STEPPED = Metric("otelgpu.clock.stepped", "{step}", Instrument.COUNTER, ValueType.INT, "Steps back of the wall clock by more than a minute.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_COMPONENT_ERRORS = Metric("otelgpu.component.errors", "{error}", Instrument.COUNTER, ValueType.INT, "Exceptions that a component raised and that lost what it was given.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_COUNTER_BACKWARDS = Metric("otelgpu.counter.backwards", "{data_point}", Instrument.COUNTER, ValueType.INT, "Readings of a counter that were a little below the one before, so that the last value was held.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_CPU_TIME = Metric("otelgpu.cpu.time", "s", Instrument.COUNTER, ValueType.DOUBLE, "Processor time that the agent has used.", Profile.MINIMAL, 0)
OTELGPU_DEVICE_COUNT = Metric("otelgpu.device.count", "{device}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Devices that a receiver reads now.", Profile.MINIMAL, 0, 1000000)
OTELGPU_DEVICE_EXPECTED = Metric("otelgpu.device.expected", "{device}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Devices that should be there: as configured, else those of the vendor on the PCI bus.", Profile.MINIMAL, 0, 1000000)
OTELGPU_EXPORTER_ACCEPTED = Metric("otelgpu.exporter.accepted", "{data_point}", Instrument.COUNTER, ValueType.INT, "Points that an exporter has taken over; with a durable queue, that are on disk.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_EVENT_ACCEPTED = Metric("otelgpu.exporter.event.accepted", "{event}", Instrument.COUNTER, ValueType.INT, "Events that an exporter has taken over; with a durable queue, that are on disk.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_EVENT_QUEUE_SIZE = Metric("otelgpu.exporter.event.queue.size", "{event}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Events that wait to be sent.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_EVENT_RESTORED = Metric("otelgpu.exporter.event.restored", "{event}", Instrument.COUNTER, ValueType.INT, "Events found in the queue of an earlier run.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_EVENTS = Metric("otelgpu.exporter.events", "{event}", Instrument.COUNTER, ValueType.INT, "Events by what became of them.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_POINTS = Metric("otelgpu.exporter.points", "{data_point}", Instrument.COUNTER, ValueType.INT, "Points by what became of them.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_QUEUE_AGE = Metric("otelgpu.exporter.queue.age", "s", Instrument.GAUGE, ValueType.DOUBLE, "Age of the oldest point or event that waits to be sent.", Profile.MINIMAL, 0)
OTELGPU_EXPORTER_QUEUE_CAPACITY = Metric("otelgpu.exporter.queue.capacity", "{data_point}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Points that the queue can hold; absent where the bound is in bytes.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_QUEUE_SIZE = Metric("otelgpu.exporter.queue.size", "{data_point}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Points that wait to be sent.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_RESTORED = Metric("otelgpu.exporter.restored", "{data_point}", Instrument.COUNTER, ValueType.INT, "Points found in the queue of an earlier run.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_EXPORTER_STATE = Metric("otelgpu.exporter.state", "{state}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the state that an exporter is in.", Profile.MINIMAL, 0, 1)
OTELGPU_MEMORY_USAGE = Metric("otelgpu.memory.usage", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "Resident memory of the agent.", Profile.MINIMAL, 0, 1125899906842624)
OTELGPU_PROCESSOR_STATE = Metric("otelgpu.processor.state", "{state}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the state that a processor is in.", Profile.MINIMAL, 0, 1)
OTELGPU_RECEIVER_STATE = Metric("otelgpu.receiver.state", "{state}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 for the state that a receiver is in.", Profile.MINIMAL, 0, 1)
OTELGPU_RECEIVER_UP = Metric("otelgpu.receiver.up", "{receiver}", Instrument.UPDOWNCOUNTER, ValueType.INT, "1 while a receiver reads at least one device, else 0.", Profile.MINIMAL, 0, 1)
OTELGPU_SCRAPE_DROPPED = Metric("otelgpu.scrape.dropped", "{data_point}", Instrument.COUNTER, ValueType.INT, "Readings that gave no point, by reason; what a device does not have counts once, as unsupported.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_SCRAPE_DURATION = Metric("otelgpu.scrape.duration", "s", Instrument.GAUGE, ValueType.DOUBLE, "Duration of the last scrape of a receiver.", Profile.MINIMAL, 0)
OTELGPU_SCRAPE_POINTS = Metric("otelgpu.scrape.points", "{data_point}", Instrument.COUNTER, ValueType.INT, "Points that a receiver has produced.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_STREAM_COUNT = Metric("otelgpu.stream.count", "{stream}", Instrument.UPDOWNCOUNTER, ValueType.INT, "Streams that the agent sends now.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_STREAM_OVERFLOW = Metric("otelgpu.stream.overflow", "{stream}", Instrument.COUNTER, ValueType.INT, "Streams that were folded into an overflow point because of a cap.", Profile.MINIMAL, 0, 9223372036854775807)
OTELGPU_TARGET_HUNG = Metric("otelgpu.target.hung", "{scrape}", Instrument.COUNTER, ValueType.INT, "Scrapes that a target did not answer within its deadline.", Profile.MINIMAL, 0, 9223372036854775807)
PROCESS_GPU_MEMORY_POOL_USAGE = Metric("process.gpu.memory.pool.usage", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "Memory in the pool of a framework's allocator; allocated and cached make up what it reserved.", Profile.FULL, 0, 1125899906842624)
PROCESS_GPU_MEMORY_USAGE = Metric("process.gpu.memory.usage", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "GPU memory that a process holds on a device.", Profile.STANDARD, 0, 1125899906842624)
PROCESS_GPU_UTILIZATION = Metric("process.gpu.utilization", "1", Instrument.GAUGE, ValueType.DOUBLE, "Share of device time that a process used, since the previous scrape.", Profile.STANDARD, 0, 1.01)

ALL: tuple[Metric, ...] = (
    HW_ENERGY,
    HW_ERRORS,
    HW_FAN_SPEED,
    HW_FAN_SPEED_RATIO,
    HW_GPU_ALLOCATION_COUNT,
    HW_GPU_ALLOCATION_FRACTION,
    HW_GPU_CLOCK_FREQUENCY,
    HW_GPU_CLOCK_LIMIT,
    HW_GPU_COMPUTE_UNIT_COUNT,
    HW_GPU_COMPUTE_UNIT_OCCUPANCY,
    HW_GPU_COMPUTE_UNIT_UTILIZATION,
    HW_GPU_ENGINE_TIME,
    HW_GPU_FABRIC_STATUS,
    HW_GPU_FAULT_LAST_OCCURRENCE,
    HW_GPU_FAULTS,
    HW_GPU_HEATING_MARGIN,
    HW_GPU_INFO,
    HW_GPU_IO,
    HW_GPU_LIFETIME_ERRORS,
    HW_GPU_LINK_BANDWIDTH_LIMIT,
    HW_GPU_LINK_COUNT,
    HW_GPU_LINK_ERRORS,
    HW_GPU_LINK_THROUGHPUT,
    HW_GPU_MEMORY_BANDWIDTH_LIMIT,
    HW_GPU_MEMORY_BANDWIDTH_UTILIZATION,
    HW_GPU_MEMORY_FREE,
    HW_GPU_MEMORY_IO,
    HW_GPU_MEMORY_LIMIT,
    HW_GPU_MEMORY_REGION_LIMIT,
    HW_GPU_MEMORY_REGION_USAGE,
    HW_GPU_MEMORY_REMAPPED_ROW_COUNT,
    HW_GPU_MEMORY_REPAIR_STATUS,
    HW_GPU_MEMORY_REPAIR_BANK_COUNT,
    HW_GPU_MEMORY_RESERVED,
    HW_GPU_MEMORY_RETIRED_PAGE_COUNT,
    HW_GPU_MEMORY_UNATTRIBUTED,
    HW_GPU_MEMORY_USAGE,
    HW_GPU_MEMORY_UTILIZATION,
    HW_GPU_PCIE_GENERATION_CURRENT,
    HW_GPU_PCIE_GENERATION_MAX,
    HW_GPU_PCIE_WIDTH_CURRENT,
    HW_GPU_PCIE_WIDTH_MAX,
    HW_GPU_PERFORMANCE_STATE,
    HW_GPU_PIPE_UTILIZATION,
    HW_GPU_POWER_AVERAGE,
    HW_GPU_POWER_LIMIT,
    HW_GPU_POWER_PEAK,
    HW_GPU_PROCESS_COUNT,
    HW_GPU_RECOVERY_STATUS,
    HW_GPU_THROTTLE_STATUS,
    HW_GPU_THROTTLE_TIME,
    HW_GPU_UTILIZATION,
    HW_GPU_VGPU_LICENSE_STATUS,
    HW_GPU_WORKLOAD_ACTIVE_TIME,
    HW_GPU_WORKLOAD_ALLOCATED_TIME,
    HW_GPU_WORKLOAD_ENERGY,
    HW_GPU_WORKLOAD_IDLE_TIME,
    HW_GPU_WORKLOAD_MEMORY_LIMIT,
    HW_GPU_WORKLOAD_MEMORY_USAGE,
    HW_GPU_WORKLOAD_UNKNOWN_TIME,
    HW_GPU_WORKLOAD_UTILIZATION,
    HW_POWER,
    HW_STATUS,
    HW_TEMPERATURE,
    HW_TEMPERATURE_LIMIT,
    HW_VOLTAGE,
    K8S_CONTAINER_GPU_REQUEST,
    K8S_NODE_GPU_ALLOCATABLE,
    OTELGPU_AGENT_RESTARTS,
    OTELGPU_ALLOCATION_UNATTRIBUTED,
    OTELGPU_ATTRIBUTION_DISAGREEMENT,
    OTELGPU_CLOCK_STEPPED,
    OTELGPU_COMPONENT_ERRORS,
    OTELGPU_COUNTER_BACKWARDS,
    OTELGPU_CPU_TIME,
    OTELGPU_DEVICE_COUNT,
    OTELGPU_DEVICE_EXPECTED,
    OTELGPU_EXPORTER_ACCEPTED,
    OTELGPU_EXPORTER_EVENT_ACCEPTED,
    OTELGPU_EXPORTER_EVENT_QUEUE_SIZE,
    OTELGPU_EXPORTER_EVENT_RESTORED,
    OTELGPU_EXPORTER_EVENTS,
    OTELGPU_EXPORTER_POINTS,
    OTELGPU_EXPORTER_QUEUE_AGE,
    OTELGPU_EXPORTER_QUEUE_CAPACITY,
    OTELGPU_EXPORTER_QUEUE_SIZE,
    OTELGPU_EXPORTER_RESTORED,
    OTELGPU_EXPORTER_STATE,
    OTELGPU_MEMORY_USAGE,
    OTELGPU_PROCESSOR_STATE,
    OTELGPU_RECEIVER_STATE,
    OTELGPU_RECEIVER_UP,
    OTELGPU_SCRAPE_DROPPED,
    OTELGPU_SCRAPE_DURATION,
    OTELGPU_SCRAPE_POINTS,
    OTELGPU_STREAM_COUNT,
    OTELGPU_STREAM_OVERFLOW,
    OTELGPU_TARGET_HUNG,
    PROCESS_GPU_MEMORY_POOL_USAGE,
    PROCESS_GPU_MEMORY_USAGE,
    PROCESS_GPU_UTILIZATION,
)
