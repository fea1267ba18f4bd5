/* A plug-in: where it finds the entry, and whether it computes. HEADER, NAME: of dTranspose10_24x17. */
#include HEADER

typedef void (*entry)(const double *, double *, double, const int *, const int *);

#ifdef __cplusplus
#define EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

enum { ROWS = 24, COLUMNS = 17 };
static const entry table[] = {NAME};

#define CALLED(name, suffix) CALLED_(name, suffix)
#define CALLED_(name, suffix) name##suffix

EXPORTED entry plugin_entry(void)
{
    return NAME;
}

EXPORTED entry plugin_table(void)
{
    return table[0];
}

/* The number of wrong elements. */
EXPORTED int plugin_wrong(void)
{
    static double a[ROWS * COLUMNS], b[ROWS * COLUMNS];
    int i, wrong = 0;
    for (i = 0; i < ROWS * COLUMNS; ++i)
        a[i] = i;
    NAME(a, b, 1.0, 0, 0);
    CALLED(NAME, _beta_omp)(a, b, 2.0, 3.0, 0, 0);
    for (i = 0; i < ROWS * COLUMNS; ++i)
        wrong += b[i / ROWS + COLUMNS * (i % ROWS)] != 5.0 * a[i];
    return wrong;
}
