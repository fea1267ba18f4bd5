/* Runs the calls of calls.h: reads scalars, A and B of each from a file, writes A and B back as they are then.
 * Tensors end (or start) where memory ends (or starts): whoever touches a byte outside is stopped there.
 * SLACK: bytes behind that may be read, on emulators that read what a mask leaves out; they must not change. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct call {
    void (*run)(const void *scalars, const void *a, void *b);
    size_t bytes_a, bytes_b;
    int end_a, end_b, reads_a;
};

#include "calls.h"

static void fail(const char *what)
{
    perror(what);
    exit(3);
}

static char *guarded(size_t bytes, int at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (bytes + SLACK + page - 1) / page * page + page * (bytes + SLACK == 0);
    char *memory = mmap(NULL, room + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    memset(memory, 0xA5, room + 2 * page);
    if (mprotect(memory, page, PROT_NONE) || mprotect(memory + page + room, page, PROT_NONE)) fail("mprotect");
    return memory + page + (at_end ? room - bytes - SLACK : 0);
}

static void intact(const char *end)
{
    int k;
    for (k = 0; k < SLACK; ++k)
        if ((unsigned char)end[k] != 0xA5) {
            fputs("memory behind a tensor was written\n", stderr);
            exit(4);
        }
}

int main(int argc, char **argv)
{
    size_t k;
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    if (!in || !out) fail("usage: driver INPUT OUTPUT");
    for (k = 0; k < sizeof calls / sizeof *calls; ++k) {
        const struct call *c = &calls[k];
        double scalars[4];
        char *a = guarded(c->bytes_a, c->end_a), *b = guarded(c->bytes_b, c->end_b);
        if (fread(scalars, 1, sizeof scalars, in) != sizeof scalars) fail("scalars");
        if (fread(a, 1, c->bytes_a, in) != c->bytes_a || fread(b, 1, c->bytes_b, in) != c->bytes_b) fail("tensors");
        c->run(scalars, c->reads_a ? a : NULL, b);
        intact(a + c->bytes_a);
        intact(b + c->bytes_b);
        if (fwrite(a, 1, c->bytes_a, out) != c->bytes_a || fwrite(b, 1, c->bytes_b, out) != c->bytes_b) fail("output");
        fflush(out);
    }
    return fclose(out) ? 3 : 0;
}
