// Plans in a C++ program: they are destroyed with their owner, and can be kept in containers.
#include "transposes.h"

#include <complex>
#include <cstdio>
#include <utility>
#include <vector>

int main()
{
    typedef std::complex<double> complex;
    const int perm[] = {1, 0};
    std::vector<transposes_planned> plans;
    for (int64_t rows = 1; rows < 40; rows += 13) {
        const int64_t size[] = {rows, 37};
        plans.push_back(transposes_planned(2, perm, size, "z*", 2)); // "z*": A is conjugated
    }
    int wrong = 0;
    for (std::size_t k = 0; k < plans.size(); ++k) {
        const std::size_t rows = 1 + 13 * k, count = rows * 37;
        std::vector<complex> a(count), b(count);
        for (std::size_t i = 0; i < count; ++i)
            a[i] = complex(double(i), 1.0);
        if (!plans[k] || plans[k].omp(a.data(), b.data(), complex(0, 1)))
            ++wrong;
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < 37; ++j)
                wrong += b[j + 37 * i] != complex(0, 1) * std::conj(a[i + rows * j]);
    }
    // All of them by one call: a plan for each block, in any order, one of them twice.
    std::vector<const transposes_plan *> blocks;
    for (std::size_t k = 0; k < 4; ++k)
        blocks.push_back(plans[(k + 1) % plans.size()].get());
    const transposes_grouped group(int64_t(blocks.size()), blocks.data(), 2);
    std::vector<complex> from(4 * 40 * 37, complex(2, 1)), to(from.size());
    std::vector<const void *> of;
    std::vector<void *> into;
    for (std::size_t k = 0; k < 4; ++k) {
        of.push_back(&from[k * 40 * 37]);
        into.push_back(&to[k * 40 * 37]);
    }
    wrong += !group || group.omp(of.data(), into.data(), complex(0, 1)) || to[0] != complex(1, 2);
    into[3] = into[0];
    wrong += group(of.data(), into.data()) != TTC_PLAN_SHARED;
    const int64_t negative[] = {-1, 37};
    const transposes_planned none(2, perm, negative, "z*");
    std::printf("an extent of -1: %s\n", none.error());
    std::printf("%s\n", wrong || none ? "WRONG" : "ok");
    return wrong != 0 || none;
}
