/* Calls the entries of dTranspose102_9x9x4_inplace and compares every element with what it must become.
 * Exit status 0 = all is right. */
#include "dTranspose102_9x9x4_inplace.h"

#include <string.h>

enum { N = 9, M = 4, LD = 11, PARTS = 3 };

static double x[LD * LD * M], was[LD * LD * M];

static void fill(void)
{
    int k;
    for (k = 0; k < LD * LD * M; ++k)
        was[k] = x[k] = k % 97 - 40;
}

/* 1 where x[j, i, k] = alpha * was[i, j, k] + beta * was[j, i, k] within n x n x M, and nothing else has changed. */
static int right(int n, int ld, double alpha, double beta)
{
    int i, j, k;
    for (k = 0; k < M; ++k)
        for (i = 0; i < n; ++i)
            for (j = 0; j < n; ++j) {
                double *to = &was[0], wanted = alpha * to[i + ld * (j + n * k)] + beta * to[j + ld * (i + n * k)];
                if (x[j + ld * (i + n * k)] != wanted)
                    return 0;
            }
    for (k = 0; k < LD * LD * M; ++k)
        if ((k % ld >= n || k / ld >= n * M) && x[k] != was[k])
            return 0;
    return 1;
}

int main(void)
{
    const int lda[] = {LD, N, M}, size[] = {N - 1, N - 1, M}, other[] = {N, N - 1, M};
    const int64_t wide[] = {N, N, M}, strides[] = {LD, 1, LD * N};
    int part;
    fill();
    dTranspose102_9x9x4_inplace(x, 1.0, NULL);
    if (!right(N, N, 1, 0)) return 1;
    fill();
    dTranspose102_9x9x4_inplace_beta(x, 2.0, -1.0, lda);
    if (!right(N, LD, 2, -1)) return 2;
    fill();
    dTranspose102_9x9x4_inplace_any(x, 3.0, size, NULL);
    if (!right(N - 1, N - 1, 3, 0)) return 3;
    fill();
    dTranspose102_9x9x4_inplace_i64_beta(x, 1.0, 1.0, wide, strides);
    if (!right(N, LD, 1, 1)) return 4;
    fill();
    dTranspose102_9x9x4_inplace_any(x, 3.0, other, NULL);
    if (memcmp(x, was, sizeof x)) return 5;
    fill();
    for (part = PARTS - 1; part >= 0; --part)
        dTranspose102_9x9x4_inplace_beta_part(x, 0.5, 0.5, NULL, part, PARTS);
    if (!right(N, N, 0.5, 0.5)) return 6;
    fill();
    dTranspose102_9x9x4_inplace_any_omp(x, 1.0, size, NULL);
    if (!right(N - 1, N - 1, 1, 0)) return 7;
    return dTranspose102_9x9x4_inplace_ELEMENTS_A == N * N * M ? 0 : 8;
}
