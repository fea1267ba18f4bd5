// The TTC paper's spelling: extents as template arguments. At the generated extents that is the specialised kernel,
// at all others code for any size.
#include "dTranspose210_48x30x40.h"

#include <cstdio>
#include <vector>

namespace {

typedef void Transposition(const double *, double *, double, const int *, const int *);

template <int size0, int size1, int size2>
bool check(const char *what, Transposition *transpose)
{
    std::vector<double> a(size0 * size1 * size2), b(a.size());
    for (std::size_t n = 0; n < a.size(); ++n)
        a[n] = static_cast<double>(n);
    transpose(a.data(), b.data(), 2.0, nullptr, nullptr);
    bool right = true;
    for (int k = 0; k < size2; ++k)
        for (int j = 0; j < size1; ++j)
            for (int i = 0; i < size0; ++i)
                right = right && b[k + size2 * (j + size1 * i)] == 2.0 * a[i + size0 * (j + size1 * k)];
    std::printf("%-42s %s\n", what, right ? "ok" : "WRONG");
    return right;
}

} // namespace

int main()
{
    bool right = check<48, 30, 40>("the generated extents", dTranspose210_48x30x40<48, 30, 40>);
    right &= check<48, 30, 40>("on OpenMP's threads", dTranspose210_48x30x40_omp<48, 30, 40>);
    right &= check<61, 1, 23>("other extents", dTranspose210_48x30x40<61, 1, 23>);
    right &= check<64, 64, 64>("other extents, on OpenMP's threads", dTranspose210_48x30x40_omp<64, 64, 64>);
    return right ? 0 : 1;
}
