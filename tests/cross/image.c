/* Maps images for this machine as `runtime.mapping` does, and runs their functions. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct symbol { const char *name; size_t place; };
struct slot { size_t place, at; const char *to; };
struct image {
    const unsigned char *body;
    size_t starts[3], sizes[3], total, page;
    const struct symbol *symbols;
    const struct slot *slots;
};

#include "images.h"

#define CHECK(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); exit(1); } } while (0)

static uint64_t address_of(const char *name)
{
    CHECK(strcmp(name, "memcpy") == 0);
    return (uint64_t)(uintptr_t)memcpy;
}

static char *mapped(const struct image *image)
{
    const int access[2] = {PROT_READ | PROT_EXEC, PROT_READ};
    char *start = mmap(NULL, image->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(start != MAP_FAILED);
    for (size_t k = 0, at = 0; k < 3; at += image->sizes[k++])
        memcpy(start + image->starts[k], image->body + at, image->sizes[k]);
    for (const struct slot *slot = image->slots; slot->place; slot++) {
        uint64_t value = slot->to ? address_of(slot->to) : (uint64_t)(uintptr_t)(start + slot->at);
        memcpy(start + slot->place, &value, sizeof value);
    }
    __builtin___clear_cache(start, start + image->sizes[0]);
    for (size_t k = 0; k < 2; k++) {
        size_t size = (image->sizes[k] + image->page - 1) / image->page * image->page;
        CHECK(size == 0 || mprotect(start + image->starts[k], size, access[k]) == 0);
    }
    return start;
}

static void *function(const struct image *image, char *start, const char *name)
{
    for (const struct symbol *symbol = image->symbols; symbol->name; symbol++)
        if (strcmp(symbol->name, name) == 0)
            return start + symbol->place;
    CHECK(!"a function");
    return NULL;
}

static void small(void)
{
    char *start = mapped(&image_small), text[24] = "";
    int64_t (*add)(int64_t, int64_t) = (int64_t (*)(int64_t, int64_t))function(&image_small, start, "add");
    int64_t (*count)(void) = (int64_t (*)(void))function(&image_small, start, "count");
    void *(*copy)(void *, const void *, int64_t) =
        (void *(*)(void *, const void *, int64_t))function(&image_small, start, "copy");
    static const int64_t sums[] = {105, 107, 111, 113};
    for (int64_t k = 0; k < 4; k++)
        CHECK(add(k, 100) == sums[k]);
    CHECK(count() == 41 && count() == 83 && count() == 126);
    CHECK(copy(text, "twenty-three characters", 24) == text && strcmp(text, "twenty-three characters") == 0);
}

typedef void kernel(const void *, void *, const void *, const void *, void *, int64_t, int64_t);

/* B[k, j, i] = A[i, j, k] for the extents of `images.h`, by a kernel that nothing but its image describes. */
static void transposition(void)
{
    char *start = mapped(&image_kernel);
    kernel *run = (kernel *)function(&image_kernel, start, "kernel");
    size_t count = (size_t)I * J * K;
    float *a = aligned_alloc(64, (count * 4 + 63) / 64 * 64), *b = aligned_alloc(64, (count * 4 + 63) / 64 * 64);
    void *scratch = aligned_alloc(4096, (SCRATCH + 4096) / 4096 * 4096);
    const float scalars[2] = {1, 0};
    for (size_t n = 0; n < count; n++)
        a[n] = (float)n, b[n] = -1;
    run(a, b, scalars, NULL, scratch, 0, TASKS);
    for (size_t i = 0; i < I; i++)
        for (size_t j = 0; j < J; j++)
            for (size_t k = 0; k < K; k++)
                CHECK(b[k + K * (j + J * i)] == a[i + I * (j + J * k)]);
}

/* Memory out of the caches: what it holds stays, up to the end of the blocks. */
static void flushed(void)
{
    kernel *flush = (kernel *)function(&image_flush, mapped(&image_flush), "flush");
    unsigned char *bytes = aligned_alloc(4096, 3 * BLOCK);
    for (size_t n = 0; n < 3 * BLOCK; n++)
        bytes[n] = (unsigned char)(n * 7 % 251);
    flush(bytes, NULL, NULL, NULL, NULL, 0, 1);
    flush(bytes, NULL, NULL, NULL, NULL, 1, 3);
    for (size_t n = 0; n < 3 * BLOCK; n++)
        CHECK(bytes[n] == (unsigned char)(n * 7 % 251));
}

/* --- workers: a pool of three, whose submitter counts what was run --- */

enum { WORKERS = 3, TASKS_OF_A_JOB = 64, JOBS = 3000 };
static char *pool;
static void (*work)(void *, int64_t);

static void *serve(void *number)
{
    work(pool, (int64_t)(intptr_t)number);
    return NULL;
}

static void tick(const void *a, void *b, const void *scalars, const void *params, void *scratch, int64_t begin,
                 int64_t end)
{
    (void)scalars, (void)params, (void)scratch;
    for (int64_t task = begin; task < end; task++)
        ((int64_t *)b)[task] += *(const int64_t *)a;
}

static void workers(void)
{
    typedef void submit_type(void *, kernel *, const void *, void *, const void *, const void *, void *, int64_t,
                             int64_t, int64_t, int64_t);
    char *start = mapped(&image_workers);
    submit_type *submit = (submit_type *)function(&image_workers, start, "submit");
    void (*wake)(void *, int64_t) = (void (*)(void *, int64_t))function(&image_workers, start, "wake");
    work = (void (*)(void *, int64_t))function(&image_workers, start, "work");
    const int64_t config[6] = {200, 20, 20, (int64_t)(intptr_t)sched_yield, (int64_t)(intptr_t)sem_wait,
                               (int64_t)(intptr_t)sem_post};
    pthread_t threads[WORKERS];
    int64_t sums[TASKS_OF_A_JOB] = {0}, wanted = 0;
    pool = aligned_alloc(4096, (POOL_BYTES + 4095) / 4096 * 4096);
    memset(pool, 0, POOL_BYTES);
    memcpy(pool + CONFIG, config, sizeof config);
    for (intptr_t n = 0; n < WORKERS; n++)
        CHECK(pthread_create(&threads[n], NULL, serve, (void *)(n + 1)) == 0);
    for (int64_t job = 1; job <= JOBS; job++) {
        int64_t parts = 2 + job % WORKERS, repeats = 1 + job % 2;
        submit(pool, tick, &job, sums, NULL, NULL, NULL, 0, TASKS_OF_A_JOB, parts, repeats);
        wanted += job * repeats;
        for (int task = 0; task < TASKS_OF_A_JOB; task++)
            CHECK(sums[task] == wanted);
    }
    __atomic_store_n((int64_t *)(pool + WORD), STOP, __ATOMIC_SEQ_CST);
    wake(pool, WORKERS + 1);
    for (int n = 0; n < WORKERS; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
}

int main(void)
{
    small();
    transposition();
    flushed();
    workers();
    puts("ok");
    return 0;
}
