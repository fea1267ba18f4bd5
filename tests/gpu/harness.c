/* A block of GPU threads on one CPU thread: every GPU thread is a fibre that runs until it reaches the barrier or its
   end. Between barriers fibres run in an order of their own for every seed, so that a missing barrier shows. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 64 << 10 };
enum { FINE = 0, DIVERGED = 1, NO_MEMORY = 2 };

typedef struct {
    void *kernel, *a, *b;
    double scalars[4];
    int wide; /* scalars are double, not float */
} Call;

static ucontext_t scheduler, *fibres;
static char *stacks;
static unsigned current, block_index, *order, capacity;
static unsigned char *finished;
static void *tile;
static Call call;
static uint64_t state;

uint32_t ttc_gpu_thread(void) { return current; }
uint32_t ttc_gpu_block(void) { return block_index; }
void *ttc_gpu_shared(void) { return tile; }
uint32_t ttc_gpu_permute(uint32_t high, uint32_t low, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)high << 32 | low;
    uint32_t found = 0;
    for (int k = 0; k < 32; k += 8)
        found |= (uint32_t)(bytes >> 8 * (selector >> k & 7) & 0xff) << k;
    return found;
}
void ttc_gpu_barrier(void) { swapcontext(&fibres[current], &scheduler); }

static uint32_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void fibre(void)
{
    const double *s = call.scalars;
    if (call.wide)
        ((void (*)(void *, void *, double, double, double, double))call.kernel)(call.a, call.b, s[0], s[1], s[2], s[3]);
    else
        ((void (*)(void *, void *, float, float, float, float))call.kernel)(call.a, call.b, (float)s[0], (float)s[1],
                                                                          (float)s[2], (float)s[3]);
    finished[current] = 1;
}

static void shuffle(unsigned threads)
{
    for (unsigned i = threads; i > 1; i--) {
        unsigned j = draw() % i, swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
}

static int run_block(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++) {
        getcontext(&fibres[t]);
        fibres[t].uc_stack.ss_sp = stacks + (size_t)t * STACK;
        fibres[t].uc_stack.ss_size = STACK;
        fibres[t].uc_link = &scheduler;
        makecontext(&fibres[t], fibre, 0);
        order[t] = t;
        finished[t] = 0;
    }
    for (;;) {
        unsigned done = 0;
        shuffle(threads);
        for (unsigned i = 0; i < threads; i++) {
            current = order[i];
            swapcontext(&scheduler, &fibres[current]);
            done += finished[current];
        }
        if (done == threads)
            return FINE;
        if (done)
            return DIVERGED; /* some threads wait at a barrier that others never reach */
    }
}

static int reserve(unsigned threads)
{
    if (threads <= capacity)
        return 1;
    fibres = realloc(fibres, threads * sizeof *fibres);
    stacks = realloc(stacks, (size_t)threads * STACK);
    order = realloc(order, threads * sizeof *order);
    finished = realloc(finished, threads);
    capacity = threads;
    return fibres && stacks && order && finished;
}

/* Runs blocks [first, last) of a kernel. shared: `bytes` of shared memory, filled with noise before every block. */
int ttc_gpu_run(void *kernel, void *a, void *b, const double *scalars, int wide, unsigned first, unsigned last,
                unsigned threads, void *shared, size_t bytes, uint64_t seed)
{
    if (!reserve(threads))
        return NO_MEMORY;
    state = seed;
    tile = shared;
    call = (Call){kernel, a, b, {scalars[0], scalars[1], scalars[2], scalars[3]}, wide};
    for (block_index = first; block_index < last; block_index++) {
        for (size_t i = 0; i < bytes; i++)
            ((unsigned char *)shared)[i] = (unsigned char)draw();
        int outcome = run_block(threads);
        if (outcome)
            return outcome;
    }
    return FINE;
}
