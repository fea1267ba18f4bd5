/* zcTranspose10_384x355_conj.h: entries of zcTranspose10_384x355_conj.o, written by ttc_llvm 0.1.0.
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
#ifndef TTC_zcTranspose10_384x355_conj_H
#define TTC_zcTranspose10_384x355_conj_H

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C++" {
#include <complex>
}
#endif
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

#define zcTranspose10_384x355_conj_RANK 2
#define zcTranspose10_384x355_conj_PERM {1, 0}
#define zcTranspose10_384x355_conj_SIZE {384, 355}
#define zcTranspose10_384x355_conj_STRIDES_A {1, 384}
#define zcTranspose10_384x355_conj_STRIDES_B {1, 355}
#define zcTranspose10_384x355_conj_ELEMENTS_A 136320
#define zcTranspose10_384x355_conj_ELEMENTS_B 136320
#define zcTranspose10_384x355_conj_PARTS 49
#define zcTranspose10_384x355_conj_STACK 4096
#define zcTranspose10_384x355_conj_GENERATOR "ttc_llvm 0.1.0"

void zcTranspose10_384x355_conj(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *lda, const int *ldb, int part, int parts);

void zcTranspose10_384x355_conj_beta(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_beta_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *lda, const int *ldb, int part, int parts);

void zcTranspose10_384x355_conj_any(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *size, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_any_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *size, const int *lda, const int *ldb, int part, int parts);

void zcTranspose10_384x355_conj_any_beta(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *size, const int *lda, const int *ldb);

void zcTranspose10_384x355_conj_any_beta_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *size, const int *lda, const int *ldb, int part, int parts);

void zcTranspose10_384x355_conj_i64(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);

void zcTranspose10_384x355_conj_i64_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b, int part, int parts);

void zcTranspose10_384x355_conj_i64_beta(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);

void zcTranspose10_384x355_conj_i64_beta_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b, int part, int parts);

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *lda, const int *ldb)
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
void zcTranspose10_384x355_conj_beta_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_beta_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *lda, const int *ldb)
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
void zcTranspose10_384x355_conj_any_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *size, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_any_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = (double)size[0] * (double)size[1] * 24.0 / 65536;
    if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_any_part(A, B, alpha, size, lda, ldb, part, parts);
#else
    zcTranspose10_384x355_conj_any(A, B, alpha, size, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_any_beta_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *size, const int *lda, const int *ldb);
#else
static inline void zcTranspose10_384x355_conj_any_beta_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *size, const int *lda, const int *ldb)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    double pay = (double)size[0] * (double)size[1] * 32.0 / 65536;
    if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
#else
    zcTranspose10_384x355_conj_any_beta(A, B, alpha, beta, size, lda, ldb);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_i64_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);
#else
static inline void zcTranspose10_384x355_conj_i64_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (size) {
        double pay = (double)size[0] * (double)size[1] * 24.0 / 65536;
        if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
    } else if (parts > 49) parts = 49;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_i64_part(A, B, alpha, size, strides_a, strides_b, part, parts);
#else
    zcTranspose10_384x355_conj_i64(A, B, alpha, size, strides_a, strides_b);
#endif
}
#endif

#ifdef TTC_OMP_OBJECT
void zcTranspose10_384x355_conj_i64_beta_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b);
#else
static inline void zcTranspose10_384x355_conj_i64_beta_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
#ifdef _OPENMP
    int part, parts = omp_get_max_threads();
    if (size) {
        double pay = (double)size[0] * (double)size[1] * 32.0 / 65536;
        if (parts > pay) parts = pay < 1 ? 1 : (int)pay;
    } else if (parts > 66) parts = 66;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (part = 0; part < parts; ++part)
        zcTranspose10_384x355_conj_i64_beta_part(A, B, alpha, beta, size, strides_a, strides_b, part, parts);
#else
    zcTranspose10_384x355_conj_i64_beta(A, B, alpha, beta, size, strides_a, strides_b);
#endif
}
#endif

#ifdef __cplusplus
extern "C++" {
static inline void zcTranspose10_384x355_conj(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj(static_cast<const void *>(A), static_cast<void *>(B), &alpha, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *lda, const int *ldb, int part, int parts)
{
    zcTranspose10_384x355_conj_part(static_cast<const void *>(A), static_cast<void *>(B), &alpha, lda, ldb, part, parts);
}
static inline void zcTranspose10_384x355_conj_beta(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj_beta(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_beta_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *lda, const int *ldb, int part, int parts)
{
    zcTranspose10_384x355_conj_beta_part(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, lda, ldb, part, parts);
}
static inline void zcTranspose10_384x355_conj_any(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *size, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj_any(static_cast<const void *>(A), static_cast<void *>(B), &alpha, size, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_any_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *size, const int *lda, const int *ldb, int part, int parts)
{
    zcTranspose10_384x355_conj_any_part(static_cast<const void *>(A), static_cast<void *>(B), &alpha, size, lda, ldb, part, parts);
}
static inline void zcTranspose10_384x355_conj_any_beta(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *size, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj_any_beta(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, size, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_any_beta_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *size, const int *lda, const int *ldb, int part, int parts)
{
    zcTranspose10_384x355_conj_any_beta_part(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, size, lda, ldb, part, parts);
}
static inline void zcTranspose10_384x355_conj_i64(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
    zcTranspose10_384x355_conj_i64(static_cast<const void *>(A), static_cast<void *>(B), &alpha, size, strides_a, strides_b);
}
static inline void zcTranspose10_384x355_conj_i64_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b, int part, int parts)
{
    zcTranspose10_384x355_conj_i64_part(static_cast<const void *>(A), static_cast<void *>(B), &alpha, size, strides_a, strides_b, part, parts);
}
static inline void zcTranspose10_384x355_conj_i64_beta(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
    zcTranspose10_384x355_conj_i64_beta(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, size, strides_a, strides_b);
}
static inline void zcTranspose10_384x355_conj_i64_beta_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b, int part, int parts)
{
    zcTranspose10_384x355_conj_i64_beta_part(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, size, strides_a, strides_b, part, parts);
}
static inline void zcTranspose10_384x355_conj_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj_omp(static_cast<const void *>(A), static_cast<void *>(B), &alpha, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_beta_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj_beta_omp(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_any_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *size, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj_any_omp(static_cast<const void *>(A), static_cast<void *>(B), &alpha, size, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_any_beta_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *size, const int *lda, const int *ldb)
{
    zcTranspose10_384x355_conj_any_beta_omp(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, size, lda, ldb);
}
static inline void zcTranspose10_384x355_conj_i64_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
    zcTranspose10_384x355_conj_i64_omp(static_cast<const void *>(A), static_cast<void *>(B), &alpha, size, strides_a, strides_b);
}
static inline void zcTranspose10_384x355_conj_i64_beta_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int64_t *size, const int64_t *strides_a, const int64_t *strides_b)
{
    zcTranspose10_384x355_conj_i64_beta_omp(static_cast<const void *>(A), static_cast<void *>(B), &alpha, &beta, size, strides_a, strides_b);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_part(A, B, alpha, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_part(A, B, alpha, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_part(A, B, alpha, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_part(A, B, alpha, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta(A, B, alpha, beta, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta(A, B, alpha, beta, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta_part(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta_part(A, B, alpha, beta, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta_part(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *lda, const int *ldb, int part, int parts)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta_part(A, B, alpha, beta, lda, ldb, part, parts);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta_part(A, B, alpha, beta, size, lda, ldb, part, parts);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_omp(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_omp(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_omp(A, B, alpha, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_omp(A, B, alpha, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta_omp(const ttc_complex_double *TTC_RESTRICT A, ttc_complex_float *TTC_RESTRICT B, const ttc_complex_double *alpha, const ttc_complex_double *beta, const int *lda, const int *ldb)
{
    if (size0 == 384 && size1 == 355) {
        zcTranspose10_384x355_conj_beta_omp(A, B, alpha, beta, lda, ldb);
        return;
    }
    const int size[] = {size0, size1};
    zcTranspose10_384x355_conj_any_beta_omp(A, B, alpha, beta, size, lda, ldb);
}
template<int size0, int size1>
static inline void zcTranspose10_384x355_conj_beta_omp(const std::complex<double> *TTC_RESTRICT A, std::complex<float> *TTC_RESTRICT B, std::complex<double> alpha, std::complex<double> beta, const int *lda, const int *ldb)
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
