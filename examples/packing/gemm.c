/* C <- C + A B^T with packed operands: the main application of transpositions in BLAS (figure 3 of the TTC paper).
 *
 * A (m x k), B (n x k) and C (m x n) are column-major. Like every fast GEMM this one first copies blocks of A and B
 * into panels of a few rows, whose columns follow each other without a gap: panel p of A holds element (i, l) of its
 * rows at i + MR * l. With A's rows split into i0 (inside a panel) and i1 (the panel), that is a transposition
 *
 *     packed[i0, l, i1] <- A[i0, i1, l]        ttc --perm=0,2,1 --size=MR,panels,k --lda=MR,ld/MR,k
 *
 * Three types: s, d, and sd, where A and B are single, and are packed, multiplied and added up in double precision.
 */
#define _POSIX_C_SOURCE 199309L

#include "dTranspose021_4x64x256_lda4x128x256.h"
#include "dTranspose021_8x16x256_lda8x64x256.h"
#include "sTranspose021_16x8x256_lda16x32x256.h"
#include "sTranspose021_4x64x256_lda4x128x256.h"
#include "sdTranspose021_4x64x256_lda4x128x256.h"
#include "sdTranspose021_8x16x256_lda8x64x256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MC = 128, NC = 256, KC = 256, REPEATS = 3 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *memory(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (p == NULL)
        exit(2);
    return p;
}

static int least(int x, int y)
{
    return x < y ? x : y;
}

static int rounded_up(int x, int unit)
{
    return (x + unit - 1) / unit * unit;
}

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(what) JOIN(JOIN(TYPE, _), what)

#define TYPE s
#define IN float
#define OUT float
#define MR 16
#define NR 4
#define PACK_A sTranspose021_16x8x256_lda16x32x256_any
#define PACK_B sTranspose021_4x64x256_lda4x128x256_any
#include "gemm_body.h"

#define TYPE d
#define IN double
#define OUT double
#define MR 8
#define NR 4
#define PACK_A dTranspose021_8x16x256_lda8x64x256_any
#define PACK_B dTranspose021_4x64x256_lda4x128x256_any
#include "gemm_body.h"

#define TYPE sd
#define IN float
#define OUT double
#define MR 8
#define NR 4
#define PACK_A sdTranspose021_8x16x256_lda8x64x256_any
#define PACK_B sdTranspose021_4x64x256_lda4x128x256_any
#include "gemm_body.h"

/* Leading dimensions of A and B: 512 is what the packing was generated for, any other will do. */
static int wrong(int m, int n, int k, int lda, int ldb)
{
    return s_compare("s", m, n, k, lda, ldb) + d_compare("d", m, n, k, lda, ldb) + sd_compare("sd", m, n, k, lda, ldb);
}

int main(int argc, char **argv)
{
    const int m = argc > 3 ? atoi(argv[1]) : 500, n = argc > 3 ? atoi(argv[2]) : 390;
    const int k = argc > 3 ? atoi(argv[3]) : 300;
    int failed;
    if (m < 1 || n < 1 || k < 1) {
        fprintf(stderr, "usage: gemm [m n k], each at least 1\n");
        return 2;
    }
    failed = wrong(m, n, k, rounded_up(m, 512), rounded_up(n, 512));
    return (failed + wrong(m, n, k, m + 3, n + 1)) != 0; /* leading dimensions that no panel divides */
}
