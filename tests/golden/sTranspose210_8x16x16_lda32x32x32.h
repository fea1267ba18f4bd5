/* sTranspose210_8x16x16_lda32x32x32.h: entries of sTranspose210_8x16x16_lda32x32x32.o, written by
 * ttc_llvm 0.1.0.
 *
 * Column-major tensors: index 0 of A and index 0 of B have stride 1. A and B must not overlap. Padding
 * is never written.
 *
 * lda, ldb: one outer size per index, in A's and in B's order, each at least the extent; NULL stands
 * for the generated values, which the code is specialised for. Code for any sizes honours others.
 *
 * _part runs one of `parts` parts, 0 <= part < parts, and nothing for other values. Parts write
 * disjoint elements and may run at the same time; together they do what the plain entry does.
 *
 * _omp runs all parts on OpenMP's threads where this header is compiled with OpenMP, else the entry
 * itself.
 */
#ifndef TTC_sTranspose210_8x16x16_lda32x32x32_H
#define TTC_sTranspose210_8x16x16_lda32x32x32_H

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
 * plan:     cpu2 tile=8,2,16 block=8,1,8 order=2,1,0 inner=2,1,0 parallel=2 prefetch=1 streaming=0
 *           staging=none fetch=blocks panel=none
 * measured: 41.2 GiB/s (bytes of A + bytes of B, per second)
 * note:     best of 200 candidates
 */
void sTranspose210_8x16x16_lda32x32x32(const float *A, float *B, float alpha, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_part(const float *A, float *B, float alpha, const int *lda, const int *ldb, int part, int parts);

void sTranspose210_8x16x16_lda32x32x32_beta(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb);

void sTranspose210_8x16x16_lda32x32x32_beta_part(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb, int part, int parts);

static inline void sTranspose210_8x16x16_lda32x32x32_omp(const float *A, float *B, float alpha, const int *lda, const int *ldb)
{
    sTranspose210_8x16x16_lda32x32x32(A, B, alpha, lda, ldb);
}

static inline void sTranspose210_8x16x16_lda32x32x32_beta_omp(const float *A, float *B, float alpha, float beta, const int *lda, const int *ldb)
{
    sTranspose210_8x16x16_lda32x32x32_beta(A, B, alpha, beta, lda, ldb);
}

#ifdef __cplusplus
}
#endif

#endif /* TTC_sTranspose210_8x16x16_lda32x32x32_H */
