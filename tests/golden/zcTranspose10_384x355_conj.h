/* zcTranspose10_384x355_conj.h: entries of zcTranspose10_384x355_conj.o, written by ttc_llvm 0.1.0.
 *
 * Column-major tensors: index 0 of A and index 0 of B have stride 1. A and B must not overlap. Padding
 * is never written.
 *
 * lda, ldb: one outer size per index, in A's and in B's order, each at least the extent. NULL selects
 * the values given at generation time (the fast path); other values run slower, size-generic code.
 *
 * _any takes the extents as well: size, one per index of A. There NULL for lda or ldb means no
 * padding. At the generated extents and outer sizes it runs the specialised code; where an extent is 0
 * or less, nothing.
 *
 * _part runs one of `parts` parts, 0 <= part < parts, and nothing for other values. Parts write
 * disjoint elements and may run at the same time; together they do what the plain entry does.
 *
 * _omp runs all parts on OpenMP's threads where this header is compiled with OpenMP, else the entry
 * itself. With TTC_OMP_OBJECT defined it is only declared: the object of --emit=omp holds it.
 *
 * In C++, NAME<extents of A>(...) is NAME for the generated extents and NAME_any for all others.
 */
#ifndef TTC_zcTranspose10_384x355_conj_H
#define TTC_zcTranspose10_384x355_conj_H

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* zcTranspose10_384x355_conj
 *
 *     B[i1,i0] <- alpha * conj(A[i0,i1]) + beta * B[i1,i0]
 *
 *     perm 1,0
 *     size 384,355
 *     lda  384,355
 *     ldb  355,384
 *     A    double complex
 *     B    float complex
 *
 * alpha and beta: double complex, by pointer; entries without beta take it as 0. alpha = 0: A is not
 * read. beta = 0: B is not read. Those that equal 1 do not multiply.
 *
 * target:   avx2
 * plan:     cpu3 tile=8,8 block=4,4 order=1,0 inner=1,0 parallel=1 prefetch=0 store=cached
 *           fetch=blocks panel=none
 * measured: 7.0 GiB/s (bytes of A + 2 x bytes of B, per second)
 * stack:    4096 bytes of scratch per call
 */
#ifndef TTC_zcTranspose10_384x355_conj_ENTRIES
#define TTC_zcTranspose10_384x355_conj_ENTRIES

void zcTranspose10_384x355_conj(const void *A, void *B, const void *alpha, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_part(const void *A, void *B, const void *alpha, const int *lda, const int *ldb, int part, int parts);

void zcTranspose10_384x355_conj_beta(const void *A, void *B, const void *alpha, const void *beta, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_beta_part(const void *A, void *B, const void *alpha, const void *beta, const int *lda, const int *ldb, int part, int parts);

void zcTranspose10_384x355_conj_any(const void *A, void *B, const void *alpha, const int *size, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_any_part(const void *A, void *B, const void *alpha, const int *size, const int *lda, const int *ldb, int part, int parts);

void zcTranspose10_384x355_conj_any_beta(const void *A, void *B, const void *alpha, const void *beta, const int *size, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_any_beta_part(const void *A, void *B, const void *alpha, const void *beta, const int *size, const int *lda, const int *ldb, int part, int parts);

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_omp(const void *A, void *B, const void *alpha, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_omp(const void *A, void *B, const void *alpha, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (parts > 49) parts = 49;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_part(A, B, alpha, lda, ldb, part, parts);
#else
    zcTranspose10_384x355_conj(A, B, alpha, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_beta_omp(const void *A, void *B, const void *alpha, const void *beta, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_beta_omp(const void *A, void *B, const void *alpha, const void *beta, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (parts > 66) parts = 66;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_beta_part(A, B, alpha, beta, lda, ldb, part, parts);
#else
    zcTranspose10_384x355_conj_beta(A, B, alpha, beta, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_any_omp(const void *A, void *B, const void *alpha, const int *size, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_any_omp(const void *A, void *B, const void *alpha, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = 24.0 / 65536;
    pay *= size[0];
    pay *= size[1];
    while (parts > 1 && parts > pay) --parts;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_any_part(A, B, alpha, size, lda, ldb, part, parts);
#else
    zcTranspose10_384x355_conj_any(A, B, alpha, size, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_any_beta_omp(const void *A, void *B, const void *alpha, const void *beta, const int *size, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_any_beta_omp(const void *A, void *B, const void *alpha, const void *beta, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = 32.0 / 65536;
    pay *= size[0];
    pay *= size[1];
    while (parts > 1 && parts > pay) --parts;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
#else
    zcTranspose10_384x355_conj_any_beta(A, B, alpha, beta, size, lda, ldb);
#endif
}
#endif

#ifdef __cplusplus
extern "C++" {
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj(const void *A, void *B, const void *alpha, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_part(const void *A, void *B, const void *alpha, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_part(A, B, alpha, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_part(A, B, alpha, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta(const void *A, void *B, const void *alpha, const void *beta, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta(A, B, alpha, beta, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta_part(const void *A, void *B, const void *alpha, const void *beta, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta_part(A, B, alpha, beta, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_omp(const void *A, void *B, const void *alpha, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_omp(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_omp(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta_omp(const void *A, void *B, const void *alpha, const void *beta, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta_omp(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta_omp(A, B, alpha, beta, size, lda, ldb);
}
}
#endif

#endif /* TTC_zcTranspose10_384x355_conj_ENTRIES */

#ifdef __cplusplus
}
#endif

#endif /* TTC_zcTranspose10_384x355_conj_H */
