/* A CUDA driver for machines without a GPU: "device memory" is this process' memory, streams run at once, and kernels
   are handed to a launcher: a callback of the test, or `fake_launch` of the shared library named by TTC_FAKE_KERNELS.
   It refuses what the real one refuses: no context, a module of another context, PTX for a newer machine. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_CONTEXT = 201,
       NO_BINARY = 209, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, LAUNCH_FAILED = 719 };
enum { DEVICES = 2, STACK = 64, BLOCKS = 4096, PAGE = 1 << 20 };

typedef struct { size_t length; char *image; uintptr_t context; } Module;
typedef struct { Module *module; char name[512]; } Function;
typedef struct { uintptr_t start, size; int device; uintptr_t owner; int kind; } Block;
typedef struct { double time; uintptr_t context; } Event;
typedef struct { uintptr_t handle, context; } Stream;
typedef int (*Launcher)(const char *image, size_t length, const char *entry, unsigned grid, unsigned block,
                        uintptr_t stream, void **parameters);

static int initialised, count = 1, major = 9, minor = 0, init_status;
static size_t memory = (size_t)1 << 32, taken, l2 = 1 << 16;
static Block blocks[BLOCKS];
static Stream streams[STACK];
static uint64_t contexts_made;
static Launcher launcher;
static char journal[PAGE];
static size_t written;
static __thread uintptr_t stack[STACK];
static __thread int depth;

/* --- what tests set and read --- */

void fake_reset(int devices, int cc_major, int cc_minor, size_t bytes, size_t cache, int status)
{
    count = devices, major = cc_major, minor = cc_minor, memory = bytes, l2 = cache, init_status = status;
    initialised = 0, depth = 0, written = 0, journal[0] = 0;
}
void fake_on_launch(Launcher found) { launcher = found; }
const char *fake_journal(void) { return journal; }
void fake_forget(void) { written = 0, journal[0] = 0; }

static void note(const char *format, ...)
{
    static int taking;
    va_list values;
    va_start(values, format);
    while (__atomic_exchange_n(&taking, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    if (written < PAGE - 256)
        written += (size_t)vsnprintf(journal + written, 255, format, values);
    __atomic_store_n(&taking, 0, __ATOMIC_RELEASE);
    va_end(values);
}

int fake_register(uintptr_t start, size_t size, int device, uintptr_t owner)
{
    for (int k = 0; k < BLOCKS; k++)
        if (!blocks[k].start) {
            blocks[k] = (Block){start, size, device, owner, 2};
            return OK;
        }
    return OUT_OF_MEMORY;
}
void fake_kind(uintptr_t start, int kind) /* 1 = pinned memory of the host, 2 = of the device, 3 = managed */
{
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].start == start)
            blocks[k].kind = kind;
}
void fake_stream(uintptr_t handle, uintptr_t context)
{
    for (int k = 0; k < STACK; k++)
        if (!streams[k].handle || streams[k].handle == handle) {
            streams[k] = (Stream){handle, context};
            return;
        }
}
void fake_unregister(uintptr_t start)
{
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].start == start)
            blocks[k].start = 0;
}

static Block *holding(uintptr_t address)
{
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].start && blocks[k].start <= address && address < blocks[k].start + blocks[k].size)
            return &blocks[k];
    return NULL;
}

/* --- the driver --- */

#define NEED_CONTEXT                                                                                                   \
    if (!depth)                                                                                                        \
    return initialised ? INVALID_CONTEXT : NOT_INITIALIZED

static const struct { int status; const char *name, *text; } words[] = {
    {OK, "CUDA_SUCCESS", "no error"}, {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}, {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}, {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}, {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"}, {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
};
int cuGetErrorName(int status, const char **found)
{
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].status == status)
            return *found = words[k].name, OK;
    return *found = NULL, INVALID_VALUE;
}
int cuGetErrorString(int status, const char **found)
{
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].status == status)
            return *found = words[k].text, OK;
    return *found = NULL, INVALID_VALUE;
}
int cuInit(unsigned flags)
{
    if (init_status || !count)
        return init_status ? init_status : NO_DEVICE;
    initialised = flags == 0;
    return flags ? INVALID_VALUE : OK;
}
int cuDriverGetVersion(int *found) { return *found = 13000, OK; }
int cuDeviceGetCount(int *found) { return *found = count, initialised ? OK : NOT_INITIALIZED; }
int cuDeviceGet(int *found, int ordinal) { return *found = ordinal, ordinal >= 0 && ordinal < count ? OK : 101; }
int cuDeviceGetName(char *text, int length, int device) { return snprintf(text, (size_t)length, "Fake GPU %d", device), OK; }
int cuDeviceGetAttribute(int *found, int which, int device)
{
    static const int facts[][2] = {{1, 1024}, {8, 49152}, {10, 32}, {12, 65536}, {16, 8}, {39, 2048}}; /* for pycuda */
    (void)device;
    *found = which == 75 ? major : which == 76 ? minor : which == 38 ? (int)l2 : 0;
    for (unsigned k = 0; k < sizeof facts / sizeof *facts; k++)
        if (facts[k][0] == which)
            *found = facts[k][1];
    return OK;
}
int cuDeviceTotalMem_v2(size_t *found, int device) { return (void)device, *found = memory, OK; }
int cuDevicePrimaryCtxRetain(uintptr_t *context, int device)
{
    return *context = 0x1000 + (uintptr_t)device, initialised ? OK : NOT_INITIALIZED;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, OK; }
int cuDeviceComputeCapability(int *found, int *found_minor, int device)
{
    return (void)device, *found = major, *found_minor = minor, OK;
}
int cuCtxDetach(uintptr_t context) { return (void)context, INVALID_CONTEXT; }
int cuCtxCreate_v2(uintptr_t *context, unsigned flags, int device)
{
    (void)flags;
    *context = stack[depth++] = 0x2000 + (uintptr_t)device;
    contexts_made++; /* a later context of the same handle is another one */
    return OK;
}
int cuCtxDestroy_v2(uintptr_t context) { return (void)context, OK; }
int cuCtxGetId(uintptr_t context, uint64_t *found) { return *found = context < 0x2000 ? context : context + (contexts_made << 32), OK; }
int cuCtxGetCurrent(uintptr_t *context) { return *context = depth ? stack[depth - 1] : 0, initialised ? OK : NOT_INITIALIZED; }
int cuCtxGetDevice(int *found)
{
    NEED_CONTEXT;
    return *found = (int)(stack[depth - 1] & 0xf), OK;
}
int cuCtxPushCurrent_v2(uintptr_t context)
{
    if (!context || depth == STACK)
        return INVALID_CONTEXT;
    return stack[depth++] = context, OK;
}
int cuCtxPopCurrent_v2(uintptr_t *context)
{
    NEED_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth];
    return OK;
}
int cuCtxSynchronize(void)
{
    NEED_CONTEXT;
    note("wait for the context\n");
    return OK;
}
int cuPointerGetAttribute(void *found, int which, uintptr_t address)
{
    Block *block = holding(address);
    if (!block)
        return INVALID_VALUE;
    if (which == 1)
        *(uintptr_t *)found = block->owner;
    else if (which == 2)
        *(int *)found = block->kind == 1 ? 1 : 2;
    else if (which == 8)
        *(int *)found = block->kind == 3;
    else if (which == 9)
        *(int *)found = block->device;
    else
        return INVALID_VALUE;
    return OK;
}

static size_t image_length(const char *image)
{
    if (memcmp(image, "\177ELF", 4))
        return strlen(image);
    uint64_t table;
    uint16_t size, number;
    memcpy(&table, image + 40, 8), memcpy(&size, image + 58, 2), memcpy(&number, image + 60, 2);
    return table + (size_t)size * number;
}
int cuModuleLoadDataEx(Module **found, const char *image, unsigned options, const int *kinds, void **values)
{
    NEED_CONTEXT;
    const char *target = memcmp(image, "\177ELF", 4) ? strstr(image, ".target sm_") : NULL;
    if (memcmp(image, "\177ELF", 4) && !target) {
        for (unsigned k = 0; k < options; k++)
            if (kinds[k] == 5)
                strcpy(values[k], "ptxas fatal : Missing .version\ndirective at start of file");
        return INVALID_PTX;
    }
    if (target && atoi(target + 11) > 10 * major + minor)
        return NO_BINARY;
    Module *module = malloc(sizeof *module);
    module->length = image_length(image);
    module->image = malloc(module->length + 1);
    memcpy(module->image, image, module->length);
    module->image[module->length] = 0;
    module->context = stack[depth - 1];
    note("load %d\n", (int)(module->context & 0xffff));
    return *found = module, OK;
}
int cuModuleLoadData(Module **found, const char *image) { return cuModuleLoadDataEx(found, image, 0, NULL, NULL); }
int cuModuleLoad(Module **found, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 301;
    char *image = calloc(1, 1 << 24);
    size_t length = fread(image, 1, (1 << 24) - 1, file);
    fclose(file);
    int status = length ? cuModuleLoadDataEx(found, image, 0, NULL, NULL) : INVALID_PTX;
    free(image);
    return status;
}
int cuModuleGetFunction(Function **found, Module *module, const char *name)
{
    NEED_CONTEXT;
    char symbol[600];
    snprintf(symbol, sizeof symbol, ".entry %s(", name);
    if (memcmp(module->image, "\177ELF", 4) ? !strstr(module->image, symbol)
                                            : !memmem(module->image, module->length, name, strlen(name)))
        return NOT_FOUND;
    Function *function = malloc(sizeof *function);
    function->module = module;
    snprintf(function->name, sizeof function->name, "%s", name);
    return *found = function, OK;
}
int cuModuleGetGlobal_v2(uintptr_t *address, size_t *size, Module *module, const char *name) /* .b64 name[N] = {...} */
{
    NEED_CONTEXT;
    char symbol[600];
    snprintf(symbol, sizeof symbol, ".b64 %s[", name);
    const char *at = strstr(module->image, symbol);
    if (!at)
        return NOT_FOUND;
    size_t count = strtoul(at + strlen(symbol), NULL, 10);
    uint64_t *words = malloc(*size = 8 * count); /* as long as the process */
    at = strchr(at, '{');
    for (size_t k = 0; k < count; k++) {
        char *end;
        words[k] = strtoull(at + 1, &end, 10);
        at = end;
    }
    return *address = (uintptr_t)words, *at == '}' ? OK : INVALID_PTX;
}
int cuModuleUnload(Module *module)
{
    NEED_CONTEXT;
    if (module->context != stack[depth - 1])
        return INVALID_CONTEXT;
    note("unload\n");
    module->context = 0; /* and not freed: a function that is launched all the same is refused */
    return OK;
}

static int by_library(const char *image, size_t length, const char *entry, unsigned grid, unsigned block,
                      uintptr_t stream, void **parameters)
{
    (void)image, (void)length, (void)stream;
    void *library = dlopen(getenv("TTC_FAKE_KERNELS"), RTLD_NOW);
    int (*run)(const char *, unsigned, unsigned, void **) = NULL;
    if (library)
        *(void **)&run = dlsym(library, "fake_launch");
    return run ? run(entry, grid, block, parameters) : LAUNCH_FAILED;
}
int cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, uintptr_t stream, void **parameters, void **extra)
{
    NEED_CONTEXT;
    if (!function || function->module->context != stack[depth - 1])
        return INVALID_HANDLE;
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || bx > 1024 || shared || extra)
        return INVALID_VALUE;
    note("launch %s grid %u block %u stream %#lx\n", function->name, gx, bx, (unsigned long)stream);
    Launcher run = launcher ? launcher : getenv("TTC_FAKE_KERNELS") ? by_library : NULL;
    if (!run)
        return OK;
    return run(function->module->image, function->module->length, function->name, gx, bx, stream, parameters);
}

/* --- memory --- */

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    NEED_CONTEXT;
    return *total = memory, *free_bytes = memory > taken ? memory - taken : 0, OK;
}
int cuMemAlloc_v2(uintptr_t *address, size_t size)
{
    NEED_CONTEXT;
    void *found = NULL;
    if (size > memory || taken > memory - size || posix_memalign(&found, 512, size))
        return OUT_OF_MEMORY;
    taken += size;
    note("alloc %zu\n", size);
    return *address = (uintptr_t)found, fake_register((uintptr_t)found, size, (int)(stack[depth - 1] & 0xf), stack[depth - 1]);
}
int cuMemFree_v2(uintptr_t address)
{
    Block *block = holding(address);
    if (!block || block->start != address)
        return INVALID_VALUE;
    taken -= block->size;
    block->start = 0;
    free((void *)address);
    return OK;
}
static int moved(uintptr_t to, uintptr_t from, size_t size) { return memmove((void *)to, (const void *)from, size), OK; }
int cuMemcpyHtoD_v2(uintptr_t to, uintptr_t from, size_t size) { NEED_CONTEXT; return holding(to) ? moved(to, from, size) : INVALID_VALUE; }
int cuMemcpyHtoDAsync_v2(uintptr_t to, uintptr_t from, size_t size, uintptr_t stream)
{
    note("bring %zu stream %#lx\n", size, (unsigned long)stream);
    return cuMemcpyHtoD_v2(to, from, size);
}
int cuMemcpyDtoH_v2(uintptr_t to, uintptr_t from, size_t size) { NEED_CONTEXT; return holding(from) ? moved(to, from, size) : INVALID_VALUE; }
int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t size, uintptr_t stream)
{
    NEED_CONTEXT;
    note("copy %zu stream %#lx\n", size, (unsigned long)stream);
    return holding(to) && holding(from) ? moved(to, from, size) : INVALID_VALUE;
}
int cuMemsetD8_v2(uintptr_t address, unsigned char value, size_t size)
{
    NEED_CONTEXT;
    return holding(address) ? (memset((void *)address, value, size), OK) : INVALID_VALUE;
}
int cuMemsetD8Async(uintptr_t address, unsigned char value, size_t size, uintptr_t stream)
{
    note("set %zu stream %#lx\n", size, (unsigned long)stream);
    return cuMemsetD8_v2(address, value, size);
}

/* --- streams and events --- */

static uintptr_t of_stream(uintptr_t stream)
{
    for (int k = 0; k < STACK; k++)
        if (stream && streams[k].handle == stream)
            return streams[k].context;
    return stack[depth - 1];
}
int cuStreamGetCtx(uintptr_t stream, uintptr_t *context)
{
    NEED_CONTEXT;
    return *context = of_stream(stream), OK;
}

int cuStreamCreate(uintptr_t *stream, unsigned flags)
{
    static uintptr_t next = 0x5000;
    NEED_CONTEXT;
    (void)flags;
    return *stream = next += 0x10, OK;
}
int cuStreamDestroy_v2(uintptr_t stream) { return (void)stream, OK; }
int cuStreamSynchronize(uintptr_t stream) { NEED_CONTEXT; note("sync %#lx\n", (unsigned long)stream); return OK; }
int cuStreamWaitEvent(uintptr_t stream, void *event, unsigned flags)
{
    NEED_CONTEXT;
    note("wait stream %#lx\n", (unsigned long)stream);
    return event && !flags ? OK : INVALID_VALUE;
}
int cuEventCreate(Event **event, unsigned flags)
{
    NEED_CONTEXT;
    (void)flags;
    *event = calloc(1, sizeof **event);
    (*event)->context = stack[depth - 1];
    return OK;
}
int cuEventDestroy_v2(Event *event) { return free(event), OK; }
int cuEventRecord(Event *event, uintptr_t stream)
{
    struct timespec now;
    NEED_CONTEXT;
    if (event->context != of_stream(stream))
        return INVALID_HANDLE;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->time = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    note("record stream %#lx\n", (unsigned long)stream);
    return OK;
}
int cuEventSynchronize(Event *event) { return event ? OK : INVALID_HANDLE; }
int cuEventQuery(Event *event) { return event ? OK : INVALID_HANDLE; }
int cuEventElapsedTime(float *found, const Event *start, const Event *end) { return *found = (float)(end->time - start->time), OK; }
int cuEventElapsedTime_v2(float *found, const Event *start, const Event *end) { return cuEventElapsedTime(found, start, end); }
