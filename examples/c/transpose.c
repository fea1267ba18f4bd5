/* Generated transpositions in a C program: leading dimensions, any size, threads, complex numbers.
 *
 * Tensors are column-major: element (i, j, k) of a tensor with outer sizes (n0, n1, n2) is at i + n0 * (j + n1 * k).
 */
#include "sTranspose210_48x30x40.h"
#include "zTranspose10_65x33_conj.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

static float *numbers(int count)
{
    float *x = malloc((size_t)count * sizeof *x);
    int i;
    if (x == NULL)
        exit(2);
    for (i = 0; i < count; ++i)
        x[i] = (float)i;
    return x;
}

/* How many elements of B differ from factor * A with its indices reversed. */
static int wrong(const float *a, const float *b, float factor, const int *size, const int *lda, const int *ldb)
{
    int i, j, k, count = 0;
    for (k = 0; k < size[2]; ++k)
        for (j = 0; j < size[1]; ++j)
            for (i = 0; i < size[0]; ++i)
                count += b[k + ldb[0] * (j + ldb[1] * i)] != factor * a[i + lda[0] * (j + lda[1] * k)];
    return count;
}

static int report(const char *what, int wrong)
{
    printf("%-42s %s\n", what, wrong ? "WRONG" : "ok");
    return wrong != 0;
}

static int real_tensors(void)
{
    const int size[] = {48, 30, 40}, reversed[] = {40, 30, 48};
    const int lda[] = {50, 31, 40}, ldb[] = {44, 30, 48};
    const int other[] = {7, 50, 33}, other_reversed[] = {33, 50, 7};
    float *a = numbers(50 * 31 * 40), *b = numbers(44 * 30 * 48);
    int failed = 0;

    sTranspose210_48x30x40(a, b, 1.0f, NULL, NULL); /* NULL: lda and ldb as generated */
    failed += report("as generated", wrong(a, b, 1.0f, size, size, reversed));

    sTranspose210_48x30x40(a, b, 2.0f, lda, ldb);
    failed += report("leading dimensions at run time", wrong(a, b, 2.0f, size, lda, ldb));

    sTranspose210_48x30x40_any(a, b, 1.0f, other, NULL, NULL); /* NULL: no padding */
    failed += report("extents at run time", wrong(a, b, 1.0f, other, other, other_reversed));

    sTranspose210_48x30x40_any_omp(a, b, 3.0f, size, lda, ldb); /* threads, if compiled with OpenMP */
    failed += report("extents at run time, on OpenMP's threads", wrong(a, b, 3.0f, size, lda, ldb));

    sTranspose210_48x30x40_beta_omp(a, b, 2.0f, 1.0f, lda, ldb); /* B <- 2 A + B, hence 5 A */
    failed += report("B <- 2 A + B, on OpenMP's threads", wrong(a, b, 5.0f, size, lda, ldb));

    free(a);
    free(b);
    return failed;
}

/* Complex tensors are C99's, scalars are passed by pointer, as in CBLAS. */
static int complex_matrix(void)
{
    enum { N = 65, M = 33 };
    static double complex a[M][N], b[N][M]; /* column-major: a[j][i] is element (i, j) */
    static const int64_t size[] = {N, M}, strides_b[] = {-1, -M}; /* from the last element of b to its first */
    const double complex factor = I;
    int i, j, count = 0;
    for (j = 0; j < M; ++j)
        for (i = 0; i < N; ++i)
            a[j][i] = i + j * I;
    zTranspose10_65x33_conj(&a[0][0], &b[0][0], &factor, NULL, NULL);
    for (j = 0; j < M; ++j)
        for (i = 0; i < N; ++i)
            count += creal(b[i][j]) != j || cimag(b[i][j]) != i; /* i * conj(x + i y) = y + i x */
    zTranspose10_65x33_conj_i64(&a[0][0], &b[N - 1][M - 1], &factor, size, NULL, strides_b);
    for (j = 0; j < M; ++j)
        for (i = 0; i < N; ++i)
            count += creal(b[N - 1 - i][M - 1 - j]) != j || cimag(b[N - 1 - i][M - 1 - j]) != i;
    return report("complex, conjugated, by any strides", count);
}

int main(void)
{
    return real_tensors() + complex_matrix();
}
