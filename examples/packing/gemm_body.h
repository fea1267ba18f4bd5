/* One GEMM: TYPE names it, IN is the type of A and B, OUT that of C and of the packed panels; panels of A have MR rows,
 * those of B NR; PACK_A and PACK_B are generated transpositions of any size. */

/* Rows of a matrix with leading dimension ld into panels of R rows each; the last one is filled up with zeros. */
#define PACK_WITH_TTC(name, transpose, R)                                                                            \
    static void name(const IN *a, int ld, int rows, int depth, OUT *packed)                                          \
    {                                                                                                                \
        const int panels = rows / R, rest = rows % R;                                                                \
        const int size[] = {R, panels, depth}, outer[] = {R, ld / R, depth};                                         \
        const int one[] = {R, 1, depth}, alone[] = {ld, 1, depth};                                                   \
        const int ragged[] = {rest, 1, depth}, whole[] = {R, depth, 1};                                              \
        int p;                                                                                                       \
        if (ld % R == 0)                                                                                             \
            transpose(a, packed, 1, size, outer, NULL);                                                              \
        for (p = 0; ld % R != 0 && p < panels; ++p) /* no outer size says "R rows further": panel by panel */        \
            transpose(a + p * R, packed + (size_t)p * R * depth, 1, one, alone, NULL);                               \
        if (rest > 0) {                                                                                              \
            OUT *last = packed + (size_t)panels * R * depth;                                                         \
            memset(last, 0, sizeof(OUT) * R * (size_t)depth);                                                        \
            transpose(a + panels * R, last, 1, ragged, alone, whole);                                                \
        }                                                                                                            \
    }

#define PACK_BY_HAND(name, R)                                                                                        \
    static void name(const IN *a, int ld, int rows, int depth, OUT *packed)                                          \
    {                                                                                                                \
        int p, l, i;                                                                                                 \
        for (p = 0; p < rows; p += R)                                                                                \
            for (l = 0; l < depth; ++l, packed += R) {                                                               \
                const IN *from = a + p + (size_t)l * ld;                                                             \
                if (p + R <= rows)                                                                                   \
                    for (i = 0; i < R; ++i)                                                                          \
                        packed[i] = from[i];                                                                         \
                else                                                                                                 \
                    for (i = 0; i < R; ++i)                                                                          \
                        packed[i] = p + i < rows ? from[i] : 0;                                                      \
            }                                                                                                        \
    }

PACK_WITH_TTC(NAME(ttc_a), PACK_A, MR)
PACK_WITH_TTC(NAME(ttc_b), PACK_B, NR)
PACK_BY_HAND(NAME(hand_a), MR)
PACK_BY_HAND(NAME(hand_b), NR)

typedef struct {
    void (*a)(const IN *, int, int, int, OUT *);
    void (*b)(const IN *, int, int, int, OUT *);
} NAME(packing);

/* One micro-tile of C: MR x NR sums in registers, which the compiler vectorises. */
static void NAME(micro_kernel)(int depth, const OUT *a, const OUT *b, OUT *c, int ldc, int rows, int columns)
{
    OUT sum[NR][MR] = {{0}};
    int i, j, l;
    for (l = 0; l < depth; ++l, a += MR, b += NR)
        for (i = 0; i < MR; ++i)
            for (j = 0; j < NR; ++j)
                sum[j][i] += a[i] * b[j];
    for (j = 0; j < columns; ++j)
        for (i = 0; i < rows; ++i)
            c[i + (size_t)j * ldc] += sum[j][i];
}

static void NAME(macro_kernel)(int rows, int columns, int depth, const OUT *a, const OUT *b, OUT *c, int ldc)
{
    int i, j;
    for (j = 0; j < columns; j += NR)
        for (i = 0; i < rows; i += MR)
            NAME(micro_kernel)(depth, a + (size_t)i * depth, b + (size_t)j * depth, c + i + (size_t)j * ldc, ldc,
                               least(MR, rows - i), least(NR, columns - j));
}

static void NAME(gemm)(int m, int n, int k, const IN *a, int lda, const IN *b, int ldb, OUT *c, int ldc,
                       NAME(packing) pack)
{
    OUT *packed_b = memory(sizeof(OUT) * NC * KC);
    int jc, pc;
    for (jc = 0; jc < n; jc += NC)
        for (pc = 0; pc < k; pc += KC) {
            const int columns = least(NC, n - jc), depth = least(KC, k - pc);
            int ic;
            pack.b(b + jc + (size_t)pc * ldb, ldb, columns, depth, packed_b);
#ifdef _OPENMP
#pragma omp parallel for
#endif
            for (ic = 0; ic < m; ic += MC) {
                const int rows = least(MC, m - ic);
                OUT *packed_a = memory(sizeof(OUT) * MC * KC);
                pack.a(a + ic + (size_t)pc * lda, lda, rows, depth, packed_a);
                NAME(macro_kernel)(rows, columns, depth, packed_a, packed_b, c + ic + (size_t)jc * ldc, ldc);
                free(packed_a);
            }
        }
    free(packed_b);
}

/* Bytes read and written per second when all blocks of A and B are packed once. */
static double NAME(packing_rate)(int m, int n, int k, const IN *a, int lda, const IN *b, int ldb, NAME(packing) pack)
{
    OUT *packed = memory(sizeof(OUT) * NC * KC);
    double best = 1e30;
    int repeat, pc, c;
    for (repeat = 0; repeat < REPEATS; ++repeat) {
        const double start = now();
        for (pc = 0; pc < k; pc += KC) {
            for (c = 0; c < m; c += MC)
                pack.a(a + c + (size_t)pc * lda, lda, least(MC, m - c), least(KC, k - pc), packed);
            for (c = 0; c < n; c += NC)
                pack.b(b + c + (size_t)pc * ldb, ldb, least(NC, n - c), least(KC, k - pc), packed);
        }
        if (now() - start < best)
            best = now() - start;
    }
    free(packed);
    return ((double)m + n) * k * (sizeof(IN) + sizeof(OUT)) / best;
}

/* Elements of C that are not exactly those of the naive product: all numbers are small integers. */
static int NAME(differences)(int m, int n, int k, const IN *a, int lda, const IN *b, int ldb, const OUT *c, int ldc)
{
    int i, j, l, count = 0;
    for (j = 0; j < n; ++j)
        for (i = 0; i < m; ++i) {
            double sum = 0;
            for (l = 0; l < k; ++l)
                sum += (double)a[i + (size_t)l * lda] * (double)b[j + (size_t)l * ldb];
            count += (double)c[i + (size_t)j * ldc] != sum;
        }
    return count;
}

static int NAME(compare)(const char *label, int m, int n, int k, int lda, int ldb)
{
    const NAME(packing) packings[] = {{NAME(ttc_a), NAME(ttc_b)}, {NAME(hand_a), NAME(hand_b)}};
    const char *const names[] = {"ttc", "hand-written"};
    const int ldc = m;
    IN *a = memory(sizeof(IN) * (size_t)lda * (size_t)k), *b = memory(sizeof(IN) * (size_t)ldb * (size_t)k);
    OUT *c = memory(sizeof(OUT) * (size_t)ldc * (size_t)n);
    size_t i;
    int which, repeat, count = 0;
    for (i = 0; i < (size_t)lda * (size_t)k; ++i)
        a[i] = (IN)(i % 7) - 3;
    for (i = 0; i < (size_t)ldb * (size_t)k; ++i)
        b[i] = (IN)(i % 5) - 2;
    for (which = 0; which < 2; ++which) {
        double best = 1e30;
        int wrong;
        for (repeat = 0; repeat < REPEATS; ++repeat) {
            double start;
            memset(c, 0, sizeof(OUT) * (size_t)ldc * (size_t)n);
            start = now();
            NAME(gemm)(m, n, k, a, lda, b, ldb, c, ldc, packings[which]);
            if (now() - start < best)
                best = now() - start;
        }
        wrong = NAME(differences)(m, n, k, a, lda, b, ldb, c, ldc);
        count += wrong;
        printf("%-2s lda %4d ldb %4d  packing %-12s %6.2f GiB/s  GEMM %7.2f GFlop/s  %s\n", label, lda, ldb, names[which],
               NAME(packing_rate)(m, n, k, a, lda, b, ldb, packings[which]) / (1 << 30), 2e-9 * m * n * k / best,
               wrong ? "WRONG" : "ok");
    }
    free(a);
    free(b);
    free(c);
    return count;
}

#undef TYPE
#undef IN
#undef OUT
#undef MR
#undef NR
#undef PACK_A
#undef PACK_B
#undef PACK_WITH_TTC
#undef PACK_BY_HAND
