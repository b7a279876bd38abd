// GPU models. Sizes, clocks and powers are those of data sheets and of `nvidia-smi -q`.
#include "fake.h"

#include <strings.h>

#define GIB(n) ((u64)(n) << 30)
#define MIB(n) ((u64)(n) << 20)

#define COMMON (HAS_POWER_LIMIT | HAS_MEMORY_INFO | HAS_PCIE | HAS_PROCESS_MEMORY)
#define DATA_CENTRE (COMMON | HAS_ECC | HAS_SERIAL)

static const struct profile profiles[] = {
    {.key = "h100", .name = "NVIDIA H100 80GB HBM3", .slice = "1g.10gb",
     .vbios = "96.00.99.00.01", .part_number = "692-2G520-0200-000",
     .memory = MIB(81559), .reserved = MIB(551), .bar1 = GIB(128),
     .tdp_mw = 700000, .idle_mw = 70000, .min_limit_mw = 200000,
     .cores = 16896, .multiprocessors = 132, .bus_width = 5120,
     .sm_mhz = 1980, .memory_mhz = 2619, .video_mhz = 1545,
     .pcie_generation = 5, .architecture = NVML_DEVICE_ARCH_HOPPER, .compute_major = 9,
     .nvlinks = 18, .nvlink_version = 4, .nvlink_mbps = 26562, .pci_device_id = 0x233010de,
     .brand = NVML_BRAND_NVIDIA,
     .features = DATA_CENTRE | HAS_ROW_REMAP | HAS_MEMORY_TEMPERATURE | HAS_AVERAGE_POWER |
                 HAS_TLIMIT | HAS_JPEG_AND_OFA | HAS_GPM | HAS_FABRIC},
    {.key = "a100", .name = "NVIDIA A100-SXM4-40GB", .slice = "1g.5gb",
     .vbios = "92.00.45.00.03", .part_number = "692-2G506-0200-002",
     .memory = MIB(40960), .reserved = MIB(592), .bar1 = GIB(64),
     .tdp_mw = 400000, .idle_mw = 52000, .min_limit_mw = 100000,
     .cores = 6912, .multiprocessors = 108, .bus_width = 5120,
     .sm_mhz = 1410, .memory_mhz = 1215, .video_mhz = 1290,
     .pcie_generation = 4, .architecture = NVML_DEVICE_ARCH_AMPERE, .compute_major = 8,
     .nvlinks = 12, .nvlink_version = 3, .nvlink_mbps = 25000, .pci_device_id = 0x20b010de,
     .brand = NVML_BRAND_NVIDIA,
     .thresholds = {92, 89, 95, 85},
     .features = DATA_CENTRE | HAS_ROW_REMAP | HAS_MEMORY_TEMPERATURE | HAS_THRESHOLDS |
                 HAS_JPEG_AND_OFA},
    {.key = "b200", .name = "NVIDIA B200", .slice = "1g.23gb",
     .vbios = "97.00.88.00.0F", .part_number = "692-2G525-0220-000",
     .memory = MIB(183359), .reserved = MIB(712), .bar1 = GIB(256),
     .tdp_mw = 1000000, .idle_mw = 140000, .min_limit_mw = 200000,
     .cores = 18944, .multiprocessors = 148, .bus_width = 8192,
     .sm_mhz = 1965, .memory_mhz = 3996, .video_mhz = 1770,
     .pcie_generation = 5, .architecture = NVML_DEVICE_ARCH_BLACKWELL, .compute_major = 10,
     .nvlinks = 18, .nvlink_version = 5, .nvlink_mbps = 53125, .pci_device_id = 0x290110de,
     .brand = NVML_BRAND_NVIDIA,
     .features = DATA_CENTRE | HAS_ROW_REMAP | HAS_MEMORY_TEMPERATURE | HAS_AVERAGE_POWER |
                 HAS_TLIMIT | HAS_JPEG_AND_OFA | HAS_GPM | HAS_FABRIC},
    {.key = "l40s", .name = "NVIDIA L40S",
     .vbios = "95.02.66.00.02", .part_number = "900-2G133-0080-000",
     .memory = MIB(46068), .reserved = MIB(600), .bar1 = GIB(64),
     .tdp_mw = 350000, .idle_mw = 35000, .min_limit_mw = 100000,
     .cores = 18176, .multiprocessors = 142, .bus_width = 384,
     .sm_mhz = 2520, .memory_mhz = 9001, .video_mhz = 1965,
     .pcie_generation = 4, .architecture = NVML_DEVICE_ARCH_ADA, .compute_major = 8,
     .compute_minor = 9, .pci_device_id = 0x26b910de, .brand = NVML_BRAND_NVIDIA,
     .thresholds = {92, 89, 0, 85},
     .features = DATA_CENTRE | HAS_ROW_REMAP | HAS_AVERAGE_POWER | HAS_THRESHOLDS | HAS_TLIMIT |
                 HAS_JPEG_AND_OFA},
    {.key = "t4", .name = "Tesla T4",
     .vbios = "90.04.38.00.03", .part_number = "900-2G183-0000-001",
     .memory = MIB(15360), .reserved = MIB(450), .bar1 = MIB(256),
     .tdp_mw = 70000, .idle_mw = 10000, .min_limit_mw = 60000,
     .cores = 2560, .multiprocessors = 40, .bus_width = 256,
     .sm_mhz = 1590, .memory_mhz = 5001, .video_mhz = 1470,
     .pcie_generation = 3, .architecture = NVML_DEVICE_ARCH_TURING, .compute_major = 7,
     .compute_minor = 5, .pci_device_id = 0x1eb810de, .brand = NVML_BRAND_NVIDIA,
     .thresholds = {92, 89, 0, 85},
     .features = DATA_CENTRE | HAS_RETIRED_PAGES | HAS_THRESHOLDS},
    {.key = "rtx4090", .name = "NVIDIA GeForce RTX 4090", .vbios = "95.02.3C.00.8C",
     .memory = MIB(24564), .reserved = MIB(480), .bar1 = GIB(32),
     .tdp_mw = 450000, .idle_mw = 20000, .min_limit_mw = 150000,
     .cores = 16384, .multiprocessors = 128, .bus_width = 384,
     .sm_mhz = 3105, .memory_mhz = 10501, .video_mhz = 2415,
     .pcie_generation = 4, .architecture = NVML_DEVICE_ARCH_ADA, .compute_major = 8,
     .compute_minor = 9, .fans = 2, .pci_device_id = 0x268410de, .brand = NVML_BRAND_GEFORCE,
     .thresholds = {92, 89, 0, 85},
     .features = COMMON | HAS_AVERAGE_POWER | HAS_THRESHOLDS | HAS_TLIMIT | HAS_JPEG_AND_OFA},
    // One memory for CPU and GPU: the driver answers NOT_SUPPORTED for memory, limits and PCIe, but
    // tells the memory of each process.
    {.key = "gb10", .name = "NVIDIA GB10", .vbios = "9A.0B.12.00.00",
     .memory = MIB(122500), .tdp_mw = 140000, .idle_mw = 5000,
     .cores = 6144, .multiprocessors = 48, .bus_width = 256,
     .sm_mhz = 3003, .memory_mhz = 0, .video_mhz = 3003,
     .architecture = NVML_DEVICE_ARCH_BLACKWELL, .compute_major = 12, .compute_minor = 1,
     .pci_device_id = 0x2e1210de, .brand = NVML_BRAND_NVIDIA,
     .features = HAS_AVERAGE_POWER | HAS_TLIMIT | HAS_JPEG_AND_OFA | HAS_PROCESS_MEMORY},
    // Two GPUs and a Grace CPU on one module: power in three scopes. Limits of the module stand
    // apart from those of the GPU, which they exceed; the memory has an average and no limit.
    {.key = "gb200", .name = "NVIDIA GB200", .slice = "1g.23gb",
     .vbios = "97.00.B9.00.69", .part_number = "900-2G548-0001-000",
     .memory = MIB(189471), .reserved = MIB(712), .bar1 = GIB(256),
     .tdp_mw = 1200000, .idle_mw = 150000, .min_limit_mw = 200000,
     .cores = 19456, .multiprocessors = 152, .bus_width = 8192,
     .sm_mhz = 2062, .memory_mhz = 3996, .video_mhz = 1725,
     .pcie_generation = 6, .architecture = NVML_DEVICE_ARCH_BLACKWELL, .compute_major = 10,
     .nvlinks = 18, .nvlink_version = 5, .nvlink_mbps = 53125, .pci_device_id = 0x294110de,
     .brand = NVML_BRAND_NVIDIA,
     .module_power = {.idle_mw = 300000, .most_mw = 2700000, .default_limit_mw = 2700000,
                      .max_limit_mw = 2700000, .min_limit_mw = 500000, .instant = true},
     .memory_power = {.idle_mw = 60000, .most_mw = 240000},
     .features = DATA_CENTRE | HAS_ROW_REMAP | HAS_MEMORY_TEMPERATURE | HAS_AVERAGE_POWER |
                 HAS_TLIMIT | HAS_JPEG_AND_OFA | HAS_GPM | HAS_FABRIC},
    // Orin with NVIDIA's nvgpu driver: there is a GPU with a name, and nvidia-smi prints N/A for
    // all else. The UUID is the same on each board.
    {.key = "jetson", .name = "Orin (nvgpu)", .uuid = "54d0709b-558d-5a59-9c65-0c5fc14a21a4",
     .memory = MIB(30697), .cores = 2048, .multiprocessors = 16, .sm_mhz = 1300,
     .architecture = NVML_DEVICE_ARCH_AMPERE, .compute_major = 8, .compute_minor = 7,
     .brand = NVML_BRAND_NVIDIA,
     .answers = "nvmlDeviceGetName nvmlDeviceGetUUID nvmlDeviceGetIndex nvmlDeviceGetBrand "
                "nvmlDeviceGetArchitecture nvmlDeviceGetCudaComputeCapability"},
    // Thor with the unified driver: utilization and the processes as well.
    {.key = "thor", .name = "NVIDIA Thor", .vbios = "9B.00.00.00.00",
     .memory = MIB(125772), .cores = 2560, .multiprocessors = 20, .sm_mhz = 1575,
     .architecture = NVML_DEVICE_ARCH_BLACKWELL, .compute_major = 11,
     .brand = NVML_BRAND_NVIDIA, .features = HAS_PROCESS_MEMORY,
     .answers = "nvmlDeviceGetName nvmlDeviceGetUUID nvmlDeviceGetIndex nvmlDeviceGetBrand "
                "nvmlDeviceGetArchitecture nvmlDeviceGetCudaComputeCapability "
                "nvmlDeviceGetMinorNumber nvmlDeviceGetComputeMode nvmlDeviceGetUtilizationRates "
                "nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetGraphicsRunningProcesses_v3"},
    // A GeForce through the driver of Windows: most readings are there; what belongs to the Linux
    // kernel module, to single processes and to events is not.
    {.key = "wsl", .name = "NVIDIA GeForce RTX 4090", .vbios = "95.02.3C.00.8C",
     .memory = MIB(24564), .reserved = MIB(480), .bar1 = GIB(32),
     .tdp_mw = 450000, .idle_mw = 20000, .min_limit_mw = 150000,
     .cores = 16384, .multiprocessors = 128, .bus_width = 384,
     .sm_mhz = 3105, .memory_mhz = 10501, .video_mhz = 2415,
     .pcie_generation = 4, .architecture = NVML_DEVICE_ARCH_ADA, .compute_major = 8,
     .compute_minor = 9, .fans = 2, .pci_device_id = 0x268410de, .brand = NVML_BRAND_GEFORCE,
     .thresholds = {92, 89, 0, 85},
     .features = (COMMON & ~HAS_PROCESS_MEMORY) | HAS_AVERAGE_POWER | HAS_THRESHOLDS | HAS_TLIMIT |
                 HAS_JPEG_AND_OFA,
     .refuses = "nvmlDeviceGetMinorNumber nvmlDeviceGetGspFirmwareVersion "
                "nvmlDeviceGetGspFirmwareMode nvmlDeviceGetNumaNodeId nvmlDeviceGetIrqNum "
                "nvmlDeviceGetProcessUtilization nvmlDeviceGetProcessesUtilizationInfo "
                "nvmlDeviceRegisterEvents nvmlDeviceGetSupportedEventTypes",
     .no_fields = {{NVML_FI_DEV_PERF_POLICY_POWER, NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS},
                   {NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, NVML_FI_DEV_PCIE_COUNT_LANE_ERROR},
                   {NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION},
                   {NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
                    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN}}},
    // Driver 470 is the last for Kepler, 580 for Pascal and Volta.
    {.key = "k80", .name = "Tesla K80", .vbios = "80.21.1F.00.02",
     .part_number = "900-22080-0000-000",
     .memory = MIB(11441), .reserved = MIB(64), .bar1 = GIB(16),
     .tdp_mw = 149000, .idle_mw = 26000, .min_limit_mw = 100000,
     .cores = 2496, .multiprocessors = 13, .bus_width = 384,
     .sm_mhz = 875, .memory_mhz = 2505, .video_mhz = 540,
     .pcie_generation = 3, .architecture = NVML_DEVICE_ARCH_KEPLER, .compute_major = 3,
     .compute_minor = 7, .pci_device_id = 0x102d10de, .brand = NVML_BRAND_TESLA,
     .thresholds = {93, 88, 0, 0}, .features = DATA_CENTRE | HAS_RETIRED_PAGES | HAS_THRESHOLDS},
    {.key = "p100", .name = "Tesla P100-PCIE-16GB", .vbios = "86.00.4D.00.01",
     .part_number = "900-2H400-0000-000",
     .memory = MIB(16280), .reserved = MIB(320), .bar1 = GIB(16),
     .tdp_mw = 250000, .idle_mw = 25000, .min_limit_mw = 125000,
     .cores = 3584, .multiprocessors = 56, .bus_width = 4096,
     .sm_mhz = 1328, .memory_mhz = 715, .video_mhz = 1189,
     .pcie_generation = 3, .architecture = NVML_DEVICE_ARCH_PASCAL, .compute_major = 6,
     .pci_device_id = 0x15f810de, .brand = NVML_BRAND_TESLA,
     .thresholds = {85, 82, 0, 0}, .features = DATA_CENTRE | HAS_RETIRED_PAGES | HAS_THRESHOLDS},
    {.key = "v100", .name = "Tesla V100-SXM2-16GB", .vbios = "88.00.18.00.01",
     .part_number = "692-2G503-0202-000",
     .memory = MIB(16384), .reserved = MIB(224), .bar1 = GIB(16),
     .tdp_mw = 300000, .idle_mw = 40000, .min_limit_mw = 150000,
     .cores = 5120, .multiprocessors = 80, .bus_width = 4096,
     .sm_mhz = 1530, .memory_mhz = 877, .video_mhz = 1372,
     .pcie_generation = 3, .architecture = NVML_DEVICE_ARCH_VOLTA, .compute_major = 7,
     .nvlinks = 6, .nvlink_version = 2, .nvlink_mbps = 25781, .pci_device_id = 0x1db110de,
     .brand = NVML_BRAND_TESLA, .thresholds = {90, 87, 85, 83},
     .features = DATA_CENTRE | HAS_RETIRED_PAGES | HAS_THRESHOLDS | HAS_MEMORY_TEMPERATURE},
};

const struct profile *find_profile(const char *key)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcasecmp(profiles[i].key, key) == 0) return &profiles[i];
    return NULL;
}
