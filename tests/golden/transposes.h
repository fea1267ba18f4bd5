/* transposes.h: entries of libtransposes.a, written by ttc_llvm 0.1.0.
 *
 * Transpositions are of column-major tensors: index 0 of A and index 0 of B have stride 1. A and B must not overlap, in
 * C by `restrict`. They may be aligned as their elements are; B on a boundary of 64 bytes is fastest.
 * Padding is never written and never read.
 *
 * lda, ldb: one outer size per index, in A's and in B's order, each at least the extent; the stride of
 * index k is the product of those before it. The last one of each moves no element and is never read.
 * NULL selects the values given at generation time (the fast path); others run slower, size-generic code.
 *
 * _any takes the extents as well: size, one per index of A. There NULL for lda or ldb means no
 * padding. At the generated extents and outer sizes it runs the specialised code; where an extent is 0
 * or less, nothing.
 *
 * _i64 takes extents, and in place of outer sizes the strides of every index in elements, in A's and in
 * B's order, all as int64_t. Strides may be of any sign, those of A 0 as well; no two elements of B may share memory.
 * NULL for size stands for the generated extents, NULL for strides for the generated ones, or beside a
 * size for a tensor without padding. Fast where index 0 of A and index 0 of B have stride 1; otherwise
 * elements are moved one by one.
 *
 * Entries in place, NAME of which ends in _inplace, take one tensor, A, which is replaced, and one lda or strides. Where
 * the permutation does not keep the extents they are given, they do nothing.
 *
 * Entries of sums, NAME of which has Sum in it, are for the generated extents and outer sizes alone: they take no sizes.
 *
 * _part runs one of `parts` parts, 0 <= part < parts, and nothing for other values. Parts write
 * disjoint elements and may run at the same time; together they do what the plain entry does. More
 * than NAME_PARTS do not pay at the generated extents.
 *
 * _omp runs all parts on OpenMP's threads where this header is compiled with OpenMP, else the entry
 * itself. With TTC_OMP_OBJECT defined it is only declared: the object of --emit=omp holds it.
 *
 * Entries keep no state, take no memory but at most NAME_STACK bytes of scratch and some hundred more on
 * the stack, and may be called by any number of threads at once.
 *
 * Macros, per problem: NAME_RANK, and as initialisers of arrays NAME_PERM (of sums NAME_TERMS, a number), NAME_SIZE, NAME_STRIDES_A,
 * NAME_STRIDES_B; NAME_ELEMENTS_A and NAME_ELEMENTS_B, from the first to the last element, padding
 * included; NAME_PARTS, NAME_STACK, and NAME_GENERATOR, which generated the code.
 *
 * In C++, NAME<extents of A>(...) is NAME for the generated extents and NAME_any for all others, and
 * complex tensors and scalars are std::complex or, as in C without _Complex, void pointers.
 */
#ifndef TTC_transposes_H
#define TTC_transposes_H

#include <stddef.h>
#include <stdint.h>
#ifdef _OPENMP
#  if defined(__has_include)
#    if !__has_include(<omp.h>)
#      define TTC_NO_OMP_H
#    endif
#  endif
#  ifdef TTC_NO_OMP_H
#    ifdef __cplusplus
extern "C"
#    endif
int omp_get_max_threads(void);
#  elif defined(__cplusplus)
extern "C++" {
#    include <omp.h>
}
#  else
#    include <omp.h>
#  endif
#endif

#ifndef TTC_ABI
#  define TTC_ABI 1 /* of the functions' parameters */
#  ifdef __cplusplus
#    define TTC_RESTRICT __restrict
#  else
#    define TTC_RESTRICT restrict
#  endif
#  if defined(__cplusplus) || defined(__STDC_NO_COMPLEX__)
typedef void ttc_complex_float;
typedef void ttc_complex_double;
#  else
typedef float _Complex ttc_complex_float;
typedef double _Complex ttc_complex_double;
#  endif
#elif TTC_ABI != 1
#  error "headers of ttc_llvm with different values of TTC_ABI in one program: generate all with one version"
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

#define sTranspose210_8x16x16_lda32x32x32_RANK 3
#define sTranspose210_8x16x16_lda32x32x32_PERM {2, 1, 0}
#define sTranspose210_8x16x16_lda32x32x32_SIZE {8, 16, 16}
#define sTranspose210_8x16x16_lda32x32x32_STRIDES_A {1, 32, 1024}
#define sTranspose210_8x16x16_lda32x32x32_STRIDES_B {1, 16, 256}
#define sTranspose210_8x16x16_lda32x32x32_ELEMENTS_A 15848
#define sTranspose210_8x16x16_lda32x32x32_ELEMENTS_B 2048
#define sTranspose210_8x16x16_lda32x32x32_PARTS 1
#define sTranspose210_8x16x16_lda32x32x32_STACK 0
#define sTranspose210_8x16x16_lda32x32x32_GENERATOR "ttc_llvm 0.1.0"

void sTranspose210_8x16x16_lda32x32x32(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_beta(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_beta_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_any(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *size, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_any_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *size, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_any_beta(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *size, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_any_beta_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *size, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_i64(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);

void sTranspose210_8x16x16_lda32x32x32_i64_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_i64_beta(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);

void sTranspose210_8x16x16_lda32x32x32_i64_beta_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b, int part, int parts);

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *lda, const int *ldb)
{
    sTranspose210_8x16x16_lda32x32x32(A, B, alpha, lda, ldb);
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_beta_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_beta_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *lda, const int *ldb)
{
    sTranspose210_8x16x16_lda32x32x32_beta(A, B, alpha, beta, lda, ldb);
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_any_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *size, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_any_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = (double)size[0] * (double)size[1] * (double)size[2] * 8.0 / 65536;
    if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        sTranspose210_8x16x16_lda32x32x32_any_part(A, B, alpha, size, lda, ldb, part, parts);
#else
    sTranspose210_8x16x16_lda32x32x32_any(A, B, alpha, size, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_any_beta_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *size, const int *lda, const int *ldb);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_any_beta_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = (double)size[0] * (double)size[1] * (double)size[2] * 12.0 / 65536;
    if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        sTranspose210_8x16x16_lda32x32x32_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
#else
    sTranspose210_8x16x16_lda32x32x32_any_beta(A, B, alpha, beta, size, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_i64_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_i64_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (size) {
        double pay = (double)size[0] * (double)size[1] * (double)size[2] * 8.0 / 65536;
        if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
    } else if (parts > 1) parts = 1;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        sTranspose210_8x16x16_lda32x32x32_i64_part(A, B, alpha, size, strides_a, strides_b, part, parts);
#else
    sTranspose210_8x16x16_lda32x32x32_i64(A, B, alpha, size, strides_a, strides_b);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void sTranspose210_8x16x16_lda32x32x32_i64_beta_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);
#else
static inline void sTranspose210_8x16x16_lda32x32x32_i64_beta_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (size) {
        double pay = (double)size[0] * (double)size[1] * (double)size[2] * 12.0 / 65536;
        if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
    } else if (parts > 1) parts = 1;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        sTranspose210_8x16x16_lda32x32x32_i64_beta_part(A, B, alpha, beta, size, strides_a, strides_b, part, parts);
#else
    sTranspose210_8x16x16_lda32x32x32_i64_beta(A, B, alpha, beta, size, strides_a, strides_b);
#endif
}
#endif

#ifdef __cplusplus
extern "C++" {
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *lda, const int *ldb)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_part(A, B, alpha, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_part(A, B, alpha, size, lda, ldb, part, parts);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_beta(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *lda, const int *ldb)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_beta(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_beta(A, B, alpha, beta, size, lda, ldb);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_beta_part(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_beta_part(A, B, alpha, beta, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, const int *lda, const int *ldb)
{
    if (size0 == 8 && size1 == 16 && size2 == 16) {
        sTranspose210_8x16x16_lda32x32x32_omp(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1, size2};
    sTranspose210_8x16x16_lda32x32x32_any_omp(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1, int size2>
static inline void sTranspose210_8x16x16_lda32x32x32_beta_omp(const float *TTC_RESTRICT A, float *TTC_RESTRICT B, float alpha, float beta, const int *lda, const int *ldb)
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

#define i8Transpose10_300x500_RANK 2
#define i8Transpose10_300x500_PERM {1, 0}
#define i8Transpose10_300x500_SIZE {300, 500}
#define i8Transpose10_300x500_STRIDES_A {1, 300}
#define i8Transpose10_300x500_STRIDES_B {1, 500}
#define i8Transpose10_300x500_ELEMENTS_A 150000
#define i8Transpose10_300x500_ELEMENTS_B 150000
#define i8Transpose10_300x500_PARTS 4
#define i8Transpose10_300x500_STACK 0
#define i8Transpose10_300x500_GENERATOR "ttc_llvm 0.1.0"

void i8Transpose10_300x500(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *lda, const int *ldb);

void i8Transpose10_300x500_part(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *lda, const int *ldb, int part, int parts);

void i8Transpose10_300x500_any(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *size, const int *lda, const int *ldb);

void i8Transpose10_300x500_any_part(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *size, const int *lda, const int *ldb, int part, int parts);

void i8Transpose10_300x500_i64(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);

void i8Transpose10_300x500_i64_part(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b, int part, int parts);

#ifdef TTC_OMP_OBJECT
void i8Transpose10_300x500_omp(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *lda, const int *ldb);
#else
static inline void i8Transpose10_300x500_omp(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *lda, const int *ldb)
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
void i8Transpose10_300x500_any_omp(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *size, const int *lda, const int *ldb);
#else
static inline void i8Transpose10_300x500_any_omp(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = (double)size[0] * (double)size[1] * 2.0 / 65536;
    if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        i8Transpose10_300x500_any_part(A, B, size, lda, ldb, part, parts);
#else
    i8Transpose10_300x500_any(A, B, size, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void i8Transpose10_300x500_i64_omp(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);
#else
static inline void i8Transpose10_300x500_i64_omp(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (size) {
        double pay = (double)size[0] * (double)size[1] * 2.0 / 65536;
        if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
    } else if (parts > 4) parts = 4;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        i8Transpose10_300x500_i64_part(A, B, size, strides_a, strides_b, part, parts);
#else
    i8Transpose10_300x500_i64(A, B, size, strides_a, strides_b);
#endif
}
#endif

#ifdef __cplusplus
extern "C++" {
template<int size0, int size1>
static inline void i8Transpose10_300x500(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *lda, const int *ldb)
{
    if (size0 == 300 && size1 == 500) {
        i8Transpose10_300x500(A, B, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    i8Transpose10_300x500_any(A, B, size, lda, ldb);
}
template<int size0, int size1>
static inline void i8Transpose10_300x500_part(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 300 && size1 == 500) {
        i8Transpose10_300x500_part(A, B, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    i8Transpose10_300x500_any_part(A, B, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void i8Transpose10_300x500_omp(const int8_t *TTC_RESTRICT A, int8_t *TTC_RESTRICT B, const int *lda, const int *ldb)
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
