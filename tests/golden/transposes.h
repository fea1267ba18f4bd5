/* transposes.h: entries of libtransposes.a, written by ttc_llvm 0.1.0.
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
#ifndef TTC_transposes_H
#define TTC_transposes_H

#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* sTranspose210_8x16x16_lda32x32x32
 *
 *     B[i2,i1,i0] <- alpha * A[i0,i1,i2] + beta * B[i2,i1,i0]
 *
 *     perm 2,1,0
 *     size 8,16,16
 *     lda  32,32,32
 *     ldb  16,16,8
 *     A    float
 *     B    float
 *
 * alpha and beta: float; entries without beta take it as 0. alpha = 0: A is not read. beta = 0: B is
 * not read. alpha = 1 and beta = 0 copies bit for bit.
 *
 * target:   avx2
 * plan:     cpu3 tile=32,1,32 block=8,1,8 order=2,1,0 inner=2,1,0 parallel=3 prefetch=0 store=cached
 *           fetch=blocks panel=none
 */
#ifndef TTC_sTranspose210_8x16x16_lda32x32x32_ENTRIES
#define TTC_sTranspose210_8x16x16_lda32x32x32_ENTRIES

void sTranspose210_8x16x16_lda32x32x32(const float *A, float *B, float alpha, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_part(const float *A, float *B, float alpha, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_beta(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_beta_part(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_any(const float *A, float *B, float alpha, const int *size, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_any_part(const float *A, float *B, float alpha, const int *size, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_any_beta(const float *A, float *B, float alpha, float beta, const int *size, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_any_beta_part(const float *A, float *B, float alpha, float beta, const int *size, const int *lda, const int *ldb, int part, int parts);

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_omp(const float *A, float *B, float alpha, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_omp(const float *A, float *B, float alpha, const int *lda, const int *ldb)
{
    sTranspose210_8x16x16_lda32x32x32(A, B, alpha, lda, ldb);
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_beta_omp(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_beta_omp(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb)
{
    sTranspose210_8x16x16_lda32x32x32_beta(A, B, alpha, beta, lda, ldb);
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_any_omp(const float *A, float *B, float alpha, const int *size, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_any_omp(const float *A, float *B, float alpha, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = 8.0 / 65536;
    pay *= size[0];
    pay *= size[1];
    pay *= size[2];
    while (parts > 1 && parts > pay) --parts;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        sTranspose210_8x16x16_lda32x32x32_any_part(A, B, alpha, size, lda, ldb, part, parts);
#else
    sTranspose210_8x16x16_lda32x32x32_any(A, B, alpha, size, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_any_beta_omp(const float *A, float *B, float alpha, float beta, const int *size, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_any_beta_omp(const float *A, float *B, float alpha, float beta, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = 12.0 / 65536;
    pay *= size[0];
    pay *= size[1];
    pay *= size[2];
    while (parts > 1 && parts > pay) --parts;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        sTranspose210_8x16x16_lda32x32x32_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
#else
    sTranspose210_8x16x16_lda32x32x32_any_beta(A, B, alpha, beta, size, lda, ldb);
#endif
}
#endif

#ifdef __cplusplus
extern "C++" {
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32(const float *A, float *B, float alpha, const int *lda, const int *ldb)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_part(const float *A, float *B, float alpha, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_part(A, B, alpha, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_part(A, B, alpha, size, lda, ldb, part, parts);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_beta(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_beta(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_beta(A, B, alpha, beta, size, lda, ldb);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_beta_part(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_beta_part(A, B, alpha, beta, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_omp(const float *A, float *B, float alpha, const int *lda, const int *ldb)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_omp(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_omp(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_beta_omp(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_beta_omp(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_beta_omp(A, B, alpha, beta, size, lda, ldb);
}
}
#endif

#endif /* TTC_sTranspose210_8x16x16_lda32x32x32_ENTRIES */

/* i8Transpose10_300x500
 *
 *     B[i1,i0] <- A[i0,i1]
 *
 *     perm 1,0
 *     size 300,500
 *     lda  300,500
 *     ldb  500,300
 *     A    int8_t
 *     B    int8_t
 *
 * Every item is copied bit for bit.
 *
 * target:   avx2
 * plan:     cpu3 tile=64,64 block=16,16 order=1,0 inner=1,0 parallel=2 prefetch=0 store=cached
 *           fetch=blocks panel=none
 */
#ifndef TTC_i8Transpose10_300x500_ENTRIES
#define TTC_i8Transpose10_300x500_ENTRIES

void i8Transpose10_300x500(const int8_t *A, int8_t *B, const int *lda, const int *ldb);

void i8Transpose10_300x500_part(const int8_t *A, int8_t *B, const int *lda, const int *ldb, int part, int parts);

void i8Transpose10_300x500_any(const int8_t *A, int8_t *B, const int *size, const int *lda, const int *ldb);

void i8Transpose10_300x500_any_part(const int8_t *A, int8_t *B, const int *size, const int *lda, const int *ldb, int part, int parts);

#ifdef TTC_OMP_OBJECT
void i8Transpose10_300x500_omp(const int8_t *A, int8_t *B, const int *lda, const int *ldb);
#else
static inline void i8Transpose10_300x500_omp(const int8_t *A, int8_t *B, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (parts > 4) parts = 4;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        i8Transpose10_300x500_part(A, B, lda, ldb, part, parts);
#else
    i8Transpose10_300x500(A, B, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void i8Transpose10_300x500_any_omp(const int8_t *A, int8_t *B, const int *size, const int *lda, const int *ldb);
#else
static inline void i8Transpose10_300x500_any_omp(const int8_t *A, int8_t *B, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = 2.0 / 65536;
    pay *= size[0];
    pay *= size[1];
    while (parts > 1 && parts > pay) --parts;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        i8Transpose10_300x500_any_part(A, B, size, lda, ldb, part, parts);
#else
    i8Transpose10_300x500_any(A, B, size, lda, ldb);
#endif
}
#endif

#ifdef __cplusplus
extern "C++" {
template<int size0, int size1>
static inline void i8Transpose10_300x500(const int8_t *A, int8_t *B, const int *lda, const int *ldb)
{
    if (size0 == 300 && size1 == 500) {
        i8Transpose10_300x500(A, B, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    i8Transpose10_300x500_any(A, B, size, lda, ldb);
}
template<int size0, int size1>
static inline void i8Transpose10_300x500_part(const int8_t *A, int8_t *B, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 300 && size1 == 500) {
        i8Transpose10_300x500_part(A, B, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    i8Transpose10_300x500_any_part(A, B, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void i8Transpose10_300x500_omp(const int8_t *A, int8_t *B, const int *lda, const int *ldb)
{
    if (size0 == 300 && size1 == 500) {
        i8Transpose10_300x500_omp(A, B, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    i8Transpose10_300x500_any_omp(A, B, size, lda, ldb);
}
}
#endif

#endif /* TTC_i8Transpose10_300x500_ENTRIES */

#ifdef __cplusplus
}
#endif

#endif /* TTC_transposes_H */
