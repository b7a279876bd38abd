// GPU models. Sizes, clocks and powers are those of data sheets and of `nvidia-smi -q`.
#include "fake.h"

#include <strings.h>

#define GIB(n) ((u64)(n) << 30)
#define MIB(n) ((u64)(n) << 20)

#define COMMON (HAS_POWER_LIMIT | HAS_MEMORY_INFO | HAS_PCIE)
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
     .features = DATA_CENTRE | HAS_RETIRED_PAGES | HAS_THRESHOLDS},
    {.key = "rtx4090", .name = "NVIDIA GeForce RTX 4090", .vbios = "95.02.3C.00.8C",
     .memory = MIB(24564), .reserved = MIB(480), .bar1 = GIB(32),
     .tdp_mw = 450000, .idle_mw = 20000, .min_limit_mw = 150000,
     .cores = 16384, .multiprocessors = 128, .bus_width = 384,
     .sm_mhz = 3105, .memory_mhz = 10501, .video_mhz = 2415,
     .pcie_generation = 4, .architecture = NVML_DEVICE_ARCH_ADA, .compute_major = 8,
     .compute_minor = 9, .fans = 2, .pci_device_id = 0x268410de, .brand = NVML_BRAND_GEFORCE,
     .features = COMMON | HAS_AVERAGE_POWER | HAS_THRESHOLDS | HAS_TLIMIT | HAS_JPEG_AND_OFA},
    // One memory for CPU and GPU: the driver answers NOT_SUPPORTED for memory, limits and PCIe.
    {.key = "gb10", .name = "NVIDIA GB10", .vbios = "9A.0B.12.00.00",
     .tdp_mw = 140000, .idle_mw = 5000,
     .cores = 6144, .multiprocessors = 48, .bus_width = 256,
     .sm_mhz = 3003, .memory_mhz = 0, .video_mhz = 3003,
     .architecture = NVML_DEVICE_ARCH_BLACKWELL, .compute_major = 12, .compute_minor = 1,
     .pci_device_id = 0x2e1210de, .brand = NVML_BRAND_NVIDIA,
     .features = HAS_AVERAGE_POWER | HAS_TLIMIT | HAS_JPEG_AND_OFA},
};

const struct profile *find_profile(const char *key)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcasecmp(profiles[i].key, key) == 0) return &profiles[i];
    return NULL;
}
