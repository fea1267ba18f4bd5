/* Generated transpositions in a C program: leading dimensions, any size, threads, complex numbers.
 *
 * Tensors are column-major: element (i, j, k) of a tensor with outer sizes (n0, n1, n2) is at i + n0 * (j + n1 * k).
 */
#include "sTranspose210_48x30x40.h"
#include "zTranspose10_65x33_conj.h"

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

/* Complex scalars are passed by pointer and tensors as void pointers, as in CBLAS. */
static int complex_matrix(void)
{
    enum { N = 65, M = 33 };
    static double a[M][N][2], b[N][M][2]; /* column-major: a[j][i] is element (i, j) */
    const double i_unit[2] = {0.0, 1.0};
    int i, j, count = 0;
    for (j = 0; j < M; ++j)
        for (i = 0; i < N; ++i) {
            a[j][i][0] = i;
            a[j][i][1] = j;
        }
    zTranspose10_65x33_conj(a, b, i_unit, NULL, NULL);
    for (j = 0; j < M; ++j)
        for (i = 0; i < N; ++i)
            count += b[i][j][0] != a[j][i][1] || b[i][j][1] != a[j][i][0]; /* i * conj(x + i y) = y + i x */
    return report("complex, conjugated", count);
}

int main(void)
{
    return real_tensors() + complex_matrix();
}
