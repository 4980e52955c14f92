/* The library of NVIDIA's driver, as NVML's documents say that it answers: the GPUs 0000:21:00.0
 * and 0000:22:00.0, numbered the other way round. NVLINKS is the last byte of the UUID of the
 * cluster of NVLinks of each GPU and its clique, such as "7.1 7.2"; without it they are in none.
 * The GPU 0000:22:00.0 has as many MIG instances as MIG says, with a gap between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

/* Handles: GPUs 1 and 2; the instances of the second one from 100 on. */
typedef size_t device;

typedef struct {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem;
    char bus_id[32];
} pci_info;

typedef struct {
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
} fabric_info;

static unsigned instances(void)
{
    const char *text = getenv("MIG");
    return text ? (unsigned)atoi(text) : 0;
}

int nvmlInit_v2(void) { return SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned number, device *handle)
{
    *handle = number + 1;
    return number < 2 ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetPciInfo_v3(device handle, pci_info *info)
{
    memset(info, 0, sizeof *info);
    info->bus = handle == 1 ? 0x22 : 0x21;
    return SUCCESS;
}

int nvmlDeviceGetMinorNumber(device handle, unsigned *minor)
{
    *minor = handle == 1 ? 4 : 5;
    return SUCCESS;
}

int nvmlDeviceGetUUID(device handle, char *text, unsigned length)
{
    const char *kind = handle >= 100 ? "MIG" : "GPU";
    snprintf(text, length, "%s-00000000-0000-0000-0000-%012zu", kind, handle);
    return SUCCESS;
}

int nvmlDeviceGetGpuFabricInfo(device handle, fabric_info *info)
{
    const char *text = getenv("NVLINKS");
    memset(info, 0, sizeof *info);
    if (!text)
        return NOT_SUPPORTED;
    if (handle == 2)
        text = strchr(text, ' ') + 1;
    info->cluster[15] = (unsigned char)atoi(text);
    info->clique = (unsigned)atoi(strchr(text, '.') + 1);
    info->state = 3;
    return SUCCESS;
}

int nvmlDeviceGetMigMode(device handle, unsigned *now, unsigned *later)
{
    *now = *later = handle == 1 && instances();
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(device handle, unsigned *count)
{
    (void)handle;
    *count = 7;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(device handle, unsigned place, device *instance)
{
    (void)handle;
    /* The second place is empty. */
    if (place == 1 || place > instances())
        return NOT_FOUND;
    *instance = 100 + place;
    return SUCCESS;
}
