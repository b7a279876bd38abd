# Generated from semconv/registry by `otelgpu semconv generate`: do not edit.
"""Attribute keys of the GPU semantic convention, and values of enumerations."""

CONTAINER_ID = "container.id"
CONTAINER_IMAGE_NAME = "container.image.name"
CONTAINER_NAME = "container.name"
ERROR_TYPE = "error.type"
HW_BIOS_VERSION = "hw.bios_version"
HW_DRIVER_VERSION = "hw.driver_version"
HW_FIRMWARE_VERSION = "hw.firmware_version"
HW_GPU_ALLOCATION_MODE = "hw.gpu.allocation.mode"
HW_GPU_ALLOCATION_RESOURCE_NAME = "hw.gpu.allocation.resource_name"
HW_GPU_ARCHITECTURE = "hw.gpu.architecture"
HW_GPU_CLOCK_DOMAIN = "hw.gpu.clock.domain"
HW_GPU_COMPUTE_VERSION = "hw.gpu.compute.version"
HW_GPU_COMPUTE_MODE = "hw.gpu.compute_mode"
HW_GPU_DRM_CARD = "hw.gpu.drm.card"
HW_GPU_DRM_RENDER = "hw.gpu.drm.render"
HW_GPU_ERROR_LOCATION = "hw.gpu.error.location"
HW_GPU_FABRIC_STATE = "hw.gpu.fabric.state"
HW_GPU_FAULT_CODE = "hw.gpu.fault.code"
HW_GPU_FAULT_MESSAGE = "hw.gpu.fault.message"
HW_GPU_FAULT_SUPPRESSED_COUNT = "hw.gpu.fault.suppressed_count"
HW_GPU_FAULT_TYPE = "hw.gpu.fault.type"
HW_GPU_HOLDER_TYPE = "hw.gpu.holder.type"
HW_GPU_INDEX = "hw.gpu.index"
HW_GPU_LINK_ID = "hw.gpu.link.id"
HW_GPU_LINK_STATE = "hw.gpu.link.state"
HW_GPU_LINK_TYPE = "hw.gpu.link.type"
HW_GPU_MEMORY_IO_DIRECTION = "hw.gpu.memory.io.direction"
HW_GPU_MEMORY_LEAKED_SIZE = "hw.gpu.memory.leaked_size"
HW_GPU_MEMORY_POOL_NAME = "hw.gpu.memory.pool.name"
HW_GPU_MEMORY_POOL_STATE = "hw.gpu.memory.pool.state"
HW_GPU_MEMORY_REGION = "hw.gpu.memory.region"
HW_GPU_MEMORY_REPAIR_AVAILABILITY = "hw.gpu.memory.repair.availability"
HW_GPU_MEMORY_REPAIR_STATE = "hw.gpu.memory.repair.state"
HW_GPU_MEMORY_SIZE = "hw.gpu.memory.size"
HW_GPU_MINOR = "hw.gpu.minor"
HW_GPU_PARTITION_ID = "hw.gpu.partition.id"
HW_GPU_PARTITION_PROFILE = "hw.gpu.partition.profile"
HW_GPU_PARTITION_TYPE = "hw.gpu.partition.type"
HW_GPU_PCI_ADDRESS = "hw.gpu.pci.address"
HW_GPU_PIPE = "hw.gpu.pipe"
HW_GPU_PROCESS_TYPE = "hw.gpu.process.type"
HW_GPU_RECOVERY_ACTION = "hw.gpu.recovery.action"
HW_GPU_RUNTIME_NAME = "hw.gpu.runtime.name"
HW_GPU_RUNTIME_VERSION = "hw.gpu.runtime.version"
HW_GPU_TASK = "hw.gpu.task"
HW_GPU_THROTTLE_REASON = "hw.gpu.throttle.reason"
HW_GPU_VIRTUALIZATION_MODE = "hw.gpu.virtualization.mode"
HW_ID = "hw.id"
HW_LIMIT_TYPE = "hw.limit_type"
HW_MODEL = "hw.model"
HW_NAME = "hw.name"
HW_PARENT = "hw.parent"
HW_SENSOR_LOCATION = "hw.sensor_location"
HW_SERIAL_NUMBER = "hw.serial_number"
HW_STATE = "hw.state"
HW_TYPE = "hw.type"
HW_VENDOR = "hw.vendor"
K8S_CONTAINER_NAME = "k8s.container.name"
K8S_CRONJOB_NAME = "k8s.cronjob.name"
K8S_DAEMONSET_NAME = "k8s.daemonset.name"
K8S_DEPLOYMENT_NAME = "k8s.deployment.name"
K8S_JOB_NAME = "k8s.job.name"
K8S_NAMESPACE_NAME = "k8s.namespace.name"
K8S_POD_LABEL = "k8s.pod.label"
K8S_POD_NAME = "k8s.pod.name"
K8S_POD_UID = "k8s.pod.uid"
K8S_STATEFULSET_NAME = "k8s.statefulset.name"
NETWORK_IO_DIRECTION = "network.io.direction"
OTEL_COMPONENT_NAME = "otel.component.name"
OTEL_COMPONENT_TYPE = "otel.component.type"
OTELGPU_DEVICE_BINDING = "otelgpu.device.binding"
OTELGPU_METRIC = "otelgpu.metric"
OTELGPU_OUTCOME = "otelgpu.outcome"
OTELGPU_SIMULATED = "otelgpu.simulated"
OTELGPU_STATE = "otelgpu.state"
PROCESS_COMMAND_LINE = "process.command_line"
PROCESS_CREATION_TIME = "process.creation.time"
PROCESS_EXECUTABLE_NAME = "process.executable.name"
PROCESS_OWNER = "process.owner"
PROCESS_PID = "process.pid"
SLURM_JOB_ACCOUNT = "slurm.job.account"
SLURM_JOB_ID = "slurm.job.id"
SLURM_JOB_NAME = "slurm.job.name"
SLURM_JOB_PARTITION = "slurm.job.partition"
SLURM_JOB_STEP_ID = "slurm.job.step.id"
SLURM_JOB_USER = "slurm.job.user"
SYSTEMD_UNIT_NAME = "systemd.unit.name"
USER_NAME = "user.name"


class ErrorType:
    """Values of ``error.type``."""

    OTHER = "_OTHER"
    CORRECTED = "corrected"
    UNCORRECTED = "uncorrected"
    DEFERRED = "deferred"
    REPLAY = "replay"
    RECOVERY = "recovery"
    CRC_FLIT = "crc.flit"
    CRC_DATA = "crc.data"
    ECC = "ecc"
    NAK_SENT = "nak.sent"
    NAK_RECEIVED = "nak.received"
    CORRECTABLE = "correctable"
    NON_FATAL = "non_fatal"
    FATAL = "fatal"
    SYMBOL = "symbol"
    DISCARD = "discard"


class HwGpuAllocationMode:
    """Values of ``hw.gpu.allocation.mode``."""

    EXCLUSIVE = "exclusive"
    PARTITION = "partition"
    TIME_SLICED = "time_sliced"
    MPS = "mps"
    UNKNOWN = "unknown"


class HwGpuClockDomain:
    """Values of ``hw.gpu.clock.domain``."""

    GRAPHICS = "graphics"
    SM = "sm"
    MEMORY = "memory"
    VIDEO = "video"
    SOC = "soc"
    FABRIC = "fabric"
    DISPLAY = "display"


class HwGpuComputeMode:
    """Values of ``hw.gpu.compute_mode``."""

    DEFAULT = "default"
    EXCLUSIVE_PROCESS = "exclusive_process"
    PROHIBITED = "prohibited"


class HwGpuErrorLocation:
    """Values of ``hw.gpu.error.location``."""

    DRAM = "dram"
    SRAM = "sram"
    L1_CACHE = "l1_cache"
    L2_CACHE = "l2_cache"
    REGISTER_FILE = "register_file"
    TEXTURE_MEMORY = "texture_memory"
    SHARED_MEMORY = "shared_memory"
    CBU = "cbu"
    PCIE = "pcie"
    INTERCONNECT = "interconnect"
    UMC = "umc"
    GFX = "gfx"
    SDMA = "sdma"
    MEDIA = "media"


class HwGpuFabricState:
    """Values of ``hw.gpu.fabric.state``."""

    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    DEGRADED = "degraded"
    FAILED = "failed"


class HwGpuFaultType:
    """Values of ``hw.gpu.fault.type``."""

    XID = "xid"
    SXID = "sxid"
    AFID = "afid"
    RAS = "ras"
    LOST = "lost"


class HwGpuHolderType:
    """Values of ``hw.gpu.holder.type``."""

    K8S_CONTAINER = "k8s_container"
    CONTAINER = "container"
    SLURM_JOB = "slurm_job"
    SYSTEMD_UNIT = "systemd_unit"
    USER = "user"


class HwGpuLinkState:
    """Values of ``hw.gpu.link.state``."""

    UP = "up"
    DOWN = "down"


class HwGpuLinkType:
    """Values of ``hw.gpu.link.type``."""

    PCIE = "pcie"
    NVLINK = "nvlink"
    XGMI = "xgmi"
    XE_LINK = "xe_link"
    C2C = "c2c"


class HwGpuMemoryIoDirection:
    """Values of ``hw.gpu.memory.io.direction``."""

    READ = "read"
    WRITE = "write"


class HwGpuMemoryPoolState:
    """Values of ``hw.gpu.memory.pool.state``."""

    ALLOCATED = "allocated"
    CACHED = "cached"


class HwGpuMemoryRegion:
    """Values of ``hw.gpu.memory.region``."""

    BAR1 = "bar1"
    VISIBLE_VRAM = "visible_vram"
    GTT = "gtt"
    SHARED = "shared"


class HwGpuMemoryRepairAvailability:
    """Values of ``hw.gpu.memory.repair.availability``."""

    MAX = "max"
    HIGH = "high"
    PARTIAL = "partial"
    LOW = "low"
    NONE = "none"


class HwGpuMemoryRepairState:
    """Values of ``hw.gpu.memory.repair.state``."""

    OK = "ok"
    PENDING = "pending"
    FAILED = "failed"


class HwGpuPartitionType:
    """Values of ``hw.gpu.partition.type``."""

    MIG = "mig"
    COMPUTE_PARTITION = "compute_partition"
    SUB_DEVICE = "sub_device"
    VGPU = "vgpu"


class HwGpuPipe:
    """Values of ``hw.gpu.pipe``."""

    TENSOR = "tensor"
    TENSOR_FP64 = "tensor.fp64"
    TENSOR_FP16 = "tensor.fp16"
    TENSOR_INT = "tensor.int"
    FP64 = "fp64"
    FP32 = "fp32"
    FP16 = "fp16"
    INT = "int"


class HwGpuProcessType:
    """Values of ``hw.gpu.process.type``."""

    COMPUTE = "compute"
    GRAPHICS = "graphics"
    MPS = "mps"


class HwGpuRecoveryAction:
    """Values of ``hw.gpu.recovery.action``."""

    NONE = "none"
    GPU_RESET = "gpu_reset"
    NODE_REBOOT = "node_reboot"
    DRAIN_P2P = "drain_p2p"
    DRAIN_AND_RESET = "drain_and_reset"
    RECOVER_IMEX_DOMAIN = "recover_imex_domain"
    BUS_RESET = "bus_reset"
    SYSTEM_REBOOT = "system_reboot"


class HwGpuRuntimeName:
    """Values of ``hw.gpu.runtime.name``."""

    CUDA = "cuda"
    ROCM = "rocm"
    LEVEL_ZERO = "level_zero"


class HwGpuTask:
    """Values of ``hw.gpu.task``."""

    DECODER = "decoder"
    ENCODER = "encoder"
    GENERAL = "general"
    RENDER_COMPUTE = "render_compute"
    COMPUTE = "compute"
    RENDER = "render"
    MEDIA = "media"
    JPEG = "jpeg"
    OFA = "ofa"
    COPY = "copy"
    MEMORY = "memory"


class HwGpuThrottleReason:
    """Values of ``hw.gpu.throttle.reason``."""

    POWER_SW_CAP = "power.sw_cap"
    POWER_HW_BRAKE = "power.hw_brake"
    POWER_BOARD_LIMIT = "power.board_limit"
    THERMAL_SW = "thermal.sw"
    THERMAL_HW = "thermal.hw"
    THERMAL_CORE = "thermal.core"
    THERMAL_MEMORY = "thermal.memory"
    THERMAL_VR = "thermal.vr"
    THERMAL_PROCHOT = "thermal.prochot"
    HW_SLOWDOWN = "hw_slowdown"
    CURRENT_LIMIT = "current_limit"
    VOLTAGE = "voltage"
    RELIABILITY = "reliability"
    SYNC_BOOST = "sync_boost"


class HwGpuVirtualizationMode:
    """Values of ``hw.gpu.virtualization.mode``."""

    NONE = "none"
    PASSTHROUGH = "passthrough"
    VGPU_GUEST = "vgpu_guest"
    VGPU_HOST = "vgpu_host"
    SRIOV_PF = "sriov_pf"
    SRIOV_VF = "sriov_vf"


class HwLimitType:
    """Values of ``hw.limit_type``."""

    CRITICAL = "critical"
    DEGRADED = "degraded"
    HIGH_CRITICAL = "high.critical"
    HIGH_DEGRADED = "high.degraded"
    LOW_CRITICAL = "low.critical"
    LOW_DEGRADED = "low.degraded"
    MAX = "max"
    THROTTLED = "throttled"
    TURBO = "turbo"
    ENFORCED = "enforced"
    REQUESTED = "requested"
    DEFAULT = "default"
    MIN = "min"
    APPLICATION = "application"


class HwState:
    """Values of ``hw.state``."""

    DEGRADED = "degraded"
    FAILED = "failed"
    OK = "ok"
    PREDICTED_FAILURE = "predicted_failure"


class HwType:
    """Values of ``hw.type``."""

    GPU = "gpu"


class NetworkIoDirection:
    """Values of ``network.io.direction``."""

    RECEIVE = "receive"
    TRANSMIT = "transmit"


class OtelgpuDeviceBinding:
    """Values of ``otelgpu.device.binding``."""

    VFIO = "vfio"


class OtelgpuOutcome:
    """Values of ``otelgpu.outcome``."""

    SENT = "sent"
    REJECTED = "rejected"
    DROPPED = "dropped"
