/* Calls every entry of one generated object and compares each element, padding included.
 *
 * Compile with -DHEADER='"name.h"' -DNAME=name -DPERM=2,1,0 -DSIZE=8,16,16 -DLDA=... -DLDB=... (all generated),
 * -DTA=float -DTB=float -DSCALAR=float: types of the parts of A, B and alpha; -DPARTS=1: 2 for complex numbers,
 * 0 for plain moves, which have no alpha and beta; -DANY_SIZE: call the entries that take the extents, in ints and in
 * 64 bits.
 * All values are small integers, so that every result is exact. Exit status 0 = all is right.
 */
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(a, b) a##b
#define CAT(a, b) JOIN(a, b)
#ifdef ANY_SIZE
#define ENTRY CAT(NAME, _any)
#define OUTER size COMMA lda COMMA ldb
#else
#define ENTRY NAME
#define OUTER lda COMMA ldb
#endif
#define LANES (PARTS == 2 ? 2 : 1)

enum { PADDING = 77, OLD = 5, THREADS = 3 };

static const int perm[] = {PERM};
static const int size[] = {SIZE};
enum { RANK = sizeof(perm) / sizeof(perm[0]) };

static size_t elements(const int *outer)
{
    size_t n = 1;
    int k;
    for (k = 0; k < RANK; ++k)
        n *= (size_t)outer[k];
    return n;
}

/* Steps an index through `size`, index 0 fastest; 0 after the last one. */
static int next(int *index)
{
    int k;
    for (k = 0; k < RANK; ++k) {
        if (++index[k] < size[k])
            return 1;
        index[k] = 0;
    }
    return 0;
}

static size_t offset_a(const int *index, const int *outer)
{
    size_t at = 0, stride = 1;
    int k;
    for (k = 0; k < RANK; ++k) {
        at += (size_t)index[k] * stride;
        stride *= (size_t)outer[k];
    }
    return at;
}

static size_t offset_b(const int *index, const int *outer)
{
    size_t at = 0, stride = 1;
    int k;
    for (k = 0; k < RANK; ++k) {
        at += (size_t)index[perm[k]] * stride;
        stride *= (size_t)outer[k];
    }
    return at;
}

/* alpha = 2 + i and beta = 3 - i for complex numbers, 2 and 3 for real ones. */
#if PARTS == 2
static const SCALAR alpha[2] = {2, 1}, beta[2] = {3, -1}, one[2] = {1, 0};
#elif PARTS == 1
static const SCALAR alpha = 2, beta = 3, one = 1;
#endif

enum kind { COPY, SCALE, UPDATE };

static void expected(const TA *a, TB *b, enum kind kind)
{
#if PARTS == 2
    TB re = (TB)a[0], im = (TB)a[1], old_re = b[0], old_im = b[1];
    b[0] = kind == COPY ? re : 2 * re - im;
    b[1] = kind == COPY ? im : 2 * im + re;
    if (kind == UPDATE) {
        b[0] += 3 * old_re + old_im;
        b[1] += 3 * old_im - old_re;
    }
#else
    TB old = b[0];
    b[0] = (TB)(kind == COPY ? a[0] : 2 * a[0]);
    if (kind == UPDATE)
        b[0] = (TB)(b[0] + 3 * old);
#endif
}

enum way { WHOLE, IN_PARTS, THREADED };

/* Complex tensors and scalars are _Complex in C and void in C++. */
#if PARTS == 2
#define IN(pointer) (const void *)(pointer)
#define OUT(pointer) (void *)(pointer)
typedef const SCALAR *scalar;
#else
#define IN(value) value
#define OUT(pointer) pointer
#if PARTS == 1
typedef SCALAR scalar;
#endif
#endif

/* One operation through the entries of a name; passed: all between B and part, with COMMA between them. */
#define THROUGH(name, passed)                                        \
    do {                                                             \
        int part;                                                    \
        if (way == WHOLE) name(IN(a), OUT(b), passed);               \
        if (way == THREADED) CAT(name, _omp)(IN(a), OUT(b), passed); \
        for (part = -1; way == IN_PARTS && part <= THREADS; ++part)  \
            CAT(name, _part)(IN(a), OUT(b), passed, part, THREADS);  \
    } while (0)
#define COMMA ,

static void run(const TA *a, TB *b, const int *lda, const int *ldb, enum kind kind, enum way way)
{
#if PARTS == 0
    (void)kind;
    THROUGH(ENTRY, OUTER);
#else
    const scalar scale = kind == SCALE ? alpha : one;
    if (kind == UPDATE)
        THROUGH(CAT(ENTRY, _beta), IN(alpha) COMMA IN(beta) COMMA OUTER);
    else
        THROUGH(ENTRY, IN(scale) COMMA OUTER);
#endif
}

#ifdef ANY_SIZE
static void run_wide(const TA *a, TB *b, const int *lda, const int *ldb, enum kind kind, enum way way)
{
    int64_t wide[RANK], strides_a[RANK], strides_b[RANK];
    int k;
    for (k = 0; k < RANK; ++k) {
        wide[k] = size[k];
        strides_a[k] = k == 0 ? 1 : strides_a[k - 1] * lda[k - 1];
        strides_b[k] = k == 0 ? 1 : strides_b[k - 1] * ldb[k - 1];
    }
#if PARTS == 0
    (void)kind;
    THROUGH(CAT(NAME, _i64), wide COMMA strides_a COMMA strides_b);
#else
    {
        const scalar scale = kind == SCALE ? alpha : one;
        if (kind == UPDATE)
            THROUGH(CAT(NAME, _i64_beta), IN(alpha) COMMA IN(beta) COMMA wide COMMA strides_a COMMA strides_b);
        else
            THROUGH(CAT(NAME, _i64), IN(scale) COMMA wide COMMA strides_a COMMA strides_b);
    }
#endif
}
#endif

static int check(const int *outer_a, const int *outer_b, int as_null, enum kind kind, enum way way)
{
    const size_t na = elements(outer_a), nb = elements(outer_b);
    TA *a = (TA *)malloc(na * LANES * sizeof(TA));
    TB *b = (TB *)malloc(nb * LANES * sizeof(TB)), *want = (TB *)malloc(nb * LANES * sizeof(TB));
    TB *old = (TB *)malloc(nb * LANES * sizeof(TB));
    int index[RANK] = {0}, wrong;
    size_t i;
    if (!a || !b || !want || !old)
        return 1;
    for (i = 0; i < na * LANES; ++i)
        a[i] = (TA)(i % 61);
    for (i = 0; i < nb * LANES; ++i)
        b[i] = PADDING;
    do {
        for (i = 0; i < LANES; ++i)
            b[offset_b(index, outer_b) * LANES + i] = OLD;
    } while (next(index));
    memcpy(want, b, nb * LANES * sizeof(TB));
    do {
        expected(a + offset_a(index, outer_a) * LANES, want + offset_b(index, outer_b) * LANES, kind);
    } while (next(index));
    memcpy(old, b, nb * LANES * sizeof(TB));
    run(a, b, as_null ? NULL : outer_a, as_null ? NULL : outer_b, kind, way);
    wrong = memcmp(b, want, nb * LANES * sizeof(TB)) != 0;
#ifdef ANY_SIZE
    memcpy(b, old, nb * LANES * sizeof(TB));
    run_wide(a, b, outer_a, outer_b, kind, way);
    wrong += memcmp(b, want, nb * LANES * sizeof(TB)) != 0;
#endif
    if (wrong)
        printf("wrong: null %d kind %d way %d\n", as_null, (int)kind, (int)way);
    free(a);
    free(b);
    free(want);
    free(old);
    return wrong;
}

int main(void)
{
    int outer_a[] = {LDA}, outer_b[] = {LDB}, wrong = 0, k, kind, way;
    const int kinds = PARTS == 0 ? 1 : 3;
    for (kind = 0; kind < kinds; ++kind)
        for (way = 0; way < 3; ++way) {
#ifndef ANY_SIZE /* there, NULL means no padding */
            wrong += check(outer_a, outer_b, 1, (enum kind)kind, (enum way)way);
#endif
            wrong += check(outer_a, outer_b, 0, (enum kind)kind, (enum way)way);
        }
    for (k = 0; k < RANK; ++k) {
        outer_a[k] += 1 + k;
        outer_b[k] += 2;
    }
    for (kind = 0; kind < kinds; ++kind)
        for (way = 0; way < 3; ++way)
            wrong += check(outer_a, outer_b, 0, (enum kind)kind, (enum way)way);
    return wrong;
}
