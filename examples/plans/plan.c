/* Plans in a C program: transpositions whose permutation, extents and strides are known at run time only.
 *
 * Tensors are column-major: element (i, j, k) of a tensor with extents (n0, n1, n2) is at i + n0 * (j + n1 * k).
 */
#include "transposes.h"

#include <stdio.h>
#include <stdlib.h>

static double *numbers(int64_t count)
{
    double *x = malloc((size_t)count * sizeof *x);
    int64_t i;
    if (x == NULL)
        exit(2);
    for (i = 0; i < count; ++i)
        x[i] = (double)i;
    return x;
}

static int report(const char *what, int failed)
{
    printf("%-52s %s\n", what, failed ? "WRONG" : "ok");
    return failed != 0;
}

/* How many elements of B differ from factor * A, permuted. */
static int wrong(const double *a, const double *b, double factor, const int *perm, const int64_t *size)
{
    int64_t at[3], strides[3];
    int count = 0, k;
    for (k = 0, strides[0] = 1; k < 2; ++k)
        strides[k + 1] = strides[k] * size[k];
    for (at[2] = 0; at[2] < size[perm[2]]; ++at[2])
        for (at[1] = 0; at[1] < size[perm[1]]; ++at[1])
            for (at[0] = 0; at[0] < size[perm[0]]; ++at[0]) {
                const int64_t of = at[0] * strides[perm[0]] + at[1] * strides[perm[1]] + at[2] * strides[perm[2]];
                count += *b++ != factor * a[of];
            }
    return count;
}

static int any_shape(void)
{
    static const int perms[2][3] = {{2, 0, 1}, {1, 2, 0}};
    static const int64_t size[3] = {70, 33, 41};
    const double alpha = 2, beta = 1;
    double *a = numbers(70 * 33 * 41), *b = numbers(70 * 33 * 41);
    int failed = 0, k;

    for (k = 0; k < 2; ++k) {
        transposes_plan *plan;
        int code = transposes_plan_create(&plan, 3, perms[k], size, NULL, NULL, "d", 4);
        if (code) {
            printf("%s\n", transposes_plan_error_text(code));
            return 1;
        }
        code = transposes_plan_execute_omp(plan, a, b, NULL, NULL); /* threads, if compiled with OpenMP */
        failed += report("B <- A", code || wrong(a, b, 1, perms[k], size));
        code = transposes_plan_execute(plan, a, b, &alpha, &beta);
        failed += report("B <- 2 A + B", code || wrong(a, b, 3, perms[k], size));
        transposes_plan_destroy(plan);
    }
    free(a);
    free(b);
    return failed;
}

/* The columns 4 to 23 of a matrix of 100 rows, transposed. Parts may run in any order, and on any threads. */
static int part_of_a_matrix(void)
{
    static const int perm[3] = {1, 0, 2};
    static const int64_t size[3] = {100, 20, 1}, strides_a[3] = {1, 100, 3000}, strides_b[3] = {1, 20, 2000};
    double *a = numbers(100 * 30), *b = numbers(100 * 20);
    transposes_plan *plan;
    int failed = transposes_plan_create(&plan, 3, perm, size, strides_a, strides_b, "d", 3), part;

    for (part = 2; part >= 0; --part)
        failed += transposes_plan_execute_part(plan, a + 400, b, NULL, NULL, part, 3);
    failed = report("columns of a matrix, in three parts", failed || wrong(a + 400, b, 1, perm, size));
    transposes_plan_destroy(plan);
    free(a);
    free(b);
    return failed;
}

/* What is wrong with a call is told by its code; nothing is written then. */
static int mistakes(void)
{
    static const int perm[2] = {1, 1};
    static const int64_t size[2] = {5, 7};
    transposes_plan *plan;
    const int code = transposes_plan_create(&plan, 2, perm, size, NULL, NULL, "d", 1);

    printf("perm = {1, 1}: %s\n", transposes_plan_error_text(code));
    return report("a mistake is told", code != TTC_PLAN_PERM || plan != NULL);
}

/* Blocks of two shapes, moved by one call: two on one place are refused, and the second of them is named. */
static int blocks(void)
{
    static const int perm[2] = {1, 0};
    static const int64_t sizes[2][2] = {{5, 7}, {8, 3}};
    const double alpha = 3;
    double *a = numbers(300), *b = numbers(300);
    const transposes_plan *plans[6];
    const void *of[6];
    void *to[6];
    transposes_plan *shapes[2];
    transposes_group *group;
    int64_t second, at[2], count = 0;
    int failed = 0, k;

    for (k = 0; k < 2; ++k)
        failed += transposes_plan_create(&shapes[k], 2, perm, sizes[k], NULL, NULL, "d", 1);
    for (k = 0; k < 6; ++k) {
        plans[k] = shapes[k % 2];
        of[k] = a + 40 * k;
        to[k] = b + 40 * (5 - k);
    }
    failed += transposes_group_create(&group, 6, plans, 4) || transposes_group_execute_omp(group, of, to, &alpha, NULL);
    for (k = 0; k < 6; ++k) {
        const int64_t *size = sizes[k % 2];
        for (at[0] = 0; at[0] < size[0]; ++at[0])
            for (at[1] = 0; at[1] < size[1]; ++at[1], ++count)
                failed += b[40 * (5 - k) + at[1] + size[1] * at[0]] != 3 * a[40 * k + at[0] + size[0] * at[1]];
    }
    failed = report("blocks of two shapes", failed || count != 3 * (35 + 24));
    to[4] = to[1];
    k = transposes_group_check(group, of, to, NULL, NULL, &second);
    failed += report("two blocks on one place", k != TTC_PLAN_SHARED || second != 4);
    transposes_group_destroy(group);
    for (k = 0; k < 2; ++k)
        transposes_plan_destroy(shapes[k]);
    free(a);
    free(b);
    return failed;
}

/* The function that the library has for one of its own problems. */
static int lookup(void)
{
    static const int perm[3] = {2, 1, 0};
    static const int64_t size[3] = {48, 30, 40};
    const ttc_plan_function found = transposes_plan_lookup(3, perm, size, NULL, NULL, "d");
    double *a = numbers(48 * 30 * 40), *b = numbers(48 * 30 * 40);
    int failed = found == NULL;

    if (found)
        found(a, b, NULL, NULL, 0, 1);
    failed = report("a problem of the library", failed || wrong(a, b, 1, perm, size));
    free(a);
    free(b);
    return failed;
}

int main(void)
{
    return any_shape() + part_of_a_matrix() + mistakes() + lookup() + blocks();
}
