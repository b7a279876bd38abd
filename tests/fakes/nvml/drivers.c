// Driver branches: which field numbers one knows, and what it calls itself. Which functions it has
// is decided when the library is built (build.py, drivers.txt).
#include "fake.h"

#ifndef FAKE_DRIVER
#define FAKE_DRIVER 0  // everything that the header has
#endif

// NVML_FI_MAX of each branch's nvml.h, and the version that stands for the branch.
static const struct {
    u32 branch, fields_end;
    int cuda;
    const char *version;
} branches[] = {
    {470, 161, 11040, "470.256.02"}, {510, 161, 11060, "510.108.03"},
    {525, 170, 12000, "525.147.05"}, {535, 197, 12020, "535.183.06"},
    {550, 200, 12040, "550.163.01"}, {560, 230, 12060, "560.35.05"},
    {570, 269, 12080, "570.86.15"},  {575, 274, 12090, "575.57.08"},
    {580, 289, 13000, "580.126.09"}, {0, NVML_FI_MAX, 12080, "570.86.15"},
};

static size_t this_branch(void)
{
    size_t i = 0;
    while (branches[i].branch && branches[i].branch != FAKE_DRIVER) i++;
    return i;
}

const char *driver_version(void)
{
    return branches[this_branch()].version;
}

int cuda_version(void)
{
    return branches[this_branch()].cuda;
}

u32 field_by_number(u32 number)
{
    if (number == 0 || number >= branches[this_branch()].fields_end) return 0;
    if (FAKE_DRIVER != 575) return number;
    // The headers of 575 count five new fields before the eighteen of power smoothing.
    if (number >= 251 && number <= 255) return number + 18;
    return number >= 256 ? number - 5 : number;
}
