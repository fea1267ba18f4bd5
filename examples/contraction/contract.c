/* A contraction of tensors of four indices, C[a,i,c,k] = sum over b and j of A[a,i,b,j] * B[b,j,c,k]:
 * as it was generated, into a part of a larger tensor, on threads, and at other extents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "dContract_aibj_bjck_aick_24x16x8x12x20x10.h"

#define CONTRACT(end) dContract_aibj_bjck_aick_24x16x8x12x20x10##end

enum { A, I, B, J, C, K, INDICES };

/* The largest error of a result with these extents, whose strides of C are as given. */
static double error(const double *a, const double *b, const double *c, const int64_t *n, const int64_t *step)
{
    double worst = 0;
    for (int64_t row = 0; row < n[A] * n[I]; ++row)
        for (int64_t column = 0; column < n[C] * n[K]; ++column) {
            double sum = 0;
            for (int64_t term = 0; term < n[B] * n[J]; ++term)
                sum += a[row * n[B] * n[J] + term] * b[term * n[C] * n[K] + column];
            const int64_t at = row / n[I] * step[0] + row % n[I] * step[1] + column / n[K] * step[2] + column % n[K] * step[3];
            const double found = fabs(c[at] - sum);
            if (found > worst) worst = found;
        }
    return worst;
}

static int report(const char *what, double worst)
{
    printf("%-40s largest error %.1e %s\n", what, worst, worst < 1e-11 ? "ok" : "WRONG");
    return !(worst < 1e-11);
}

int main(void)
{
    const int64_t size[INDICES] = CONTRACT(_SIZE), packed[4] = CONTRACT(_STRIDES_C);
    const int64_t wide[4] = {16 * 20 * 13, 20 * 13, 13, 1}; /* C's rows of 10 lie in rows of 13 */
    const int64_t small[INDICES] = {5, 7, 3, 4, 6, 9}, small_packed[4] = {7 * 6 * 9, 6 * 9, 9, 1};
    const size_t of_a = 24 * 16 * 8 * 12, of_b = 8 * 12 * 20 * 10, of_c = 24 * 16 * 20 * 13;
    double *a = malloc(of_a * sizeof *a), *b = malloc(of_b * sizeof *b), *c = malloc(of_c * sizeof *c);
    int wrong = 0;
    if (!a || !b || !c) return 1;
    for (size_t k = 0; k < of_a; ++k) a[k] = (double)(k % 37) / 37 - 0.5;
    for (size_t k = 0; k < of_b; ++k) b[k] = (double)(k % 41) / 41 - 0.5;

    CONTRACT()(a, b, c, 1, 0, NULL, NULL, NULL);
    wrong |= report("as generated", error(a, b, c, size, packed));

    CONTRACT(_omp)(a, b, c, 1, 0, NULL, NULL, wide);
    wrong |= report("into a part of a larger tensor, threads", error(a, b, c, size, wide));

    CONTRACT(_any)(a, b, c, 1, 0, small, NULL, NULL, NULL);
    wrong |= report("at other extents", error(a, b, c, small, small_packed));

    /* Each part in memory of its own: nothing is allocated. */
    void *scratch = malloc(CONTRACT(_SCRATCH));
    for (int part = 0; part < 3; ++part)
        CONTRACT(_part)(a, b, c, 1, 0, NULL, NULL, NULL, part, 3, scratch, CONTRACT(_SCRATCH));
    wrong |= report("in parts", error(a, b, c, size, packed));

    CONTRACT(_release)();
    free(a), free(b), free(c), free(scratch);
    return wrong;
}
