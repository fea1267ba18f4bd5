/* Calls of emitted contractions: tensors are read from one file, C goes to another. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct call {
    void (*run)(const void *scalars, const char *a, const char *b, char *c);
    size_t bytes[3], first[3]; /* of A, B and C; to the element whose indices are all 0 */
};
#include "calls.h"

static void *filled(FILE *in, size_t bytes)
{
    void *found = malloc(bytes ? bytes : 1);
    if (!found || fread(found, 1, bytes, in) != bytes) exit(3);
    return found;
}

int main(int count, char **names)
{
    FILE *in = count == 3 ? fopen(names[1], "rb") : NULL, *out = count == 3 ? fopen(names[2], "wb") : NULL;
    if (!in || !out) return 2;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; ++k) {
        const struct call *one = &calls[k];
        char *given[4];
        given[3] = filled(in, 32);
        for (int t = 0; t < 3; ++t) given[t] = filled(in, one->bytes[t]);
        one->run(given[3], given[0] + one->first[0], given[1] + one->first[1], given[2] + one->first[2]);
        if (fwrite(given[2], 1, one->bytes[2], out) != one->bytes[2]) return 4;
        for (int t = 0; t < 4; ++t) free(given[t]);
    }
    return fclose(out);
}
