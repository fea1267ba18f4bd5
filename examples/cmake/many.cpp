// Three transpositions of one library; its header works from C and from C++.
#include "transposes.h"

#include <complex>
#include <cstdio>
#include <vector>

namespace {

int matrix()
{
    const int rows = 300, columns = 200;
    std::vector<double> a(rows * columns), b(rows * columns);
    for (std::size_t i = 0; i < a.size(); i++)
        a[i] = double(i);
    dTranspose10_300x200(a.data(), b.data(), 1.0, nullptr, nullptr);
    int wrong = 0;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            wrong += b[j + columns * i] != a[i + rows * j];
    return wrong;
}

int channels()  // interleaved pixels to planes
{
    const int pixels = 640 * 48;
    std::vector<float> a(3 * pixels), b(3 * pixels);
    for (std::size_t i = 0; i < a.size(); i++)
        a[i] = float(i % 1000);
    sTranspose10_3x30720(a.data(), b.data(), 1.0f, nullptr, nullptr);
    int wrong = 0;
    for (int p = 0; p < pixels; p++)
        for (int c = 0; c < 3; c++)
            wrong += b[p + pixels * c] != a[c + 3 * p];
    return wrong;
}

int updated()  // B <- alpha * A^T + beta * B, complex scalars by pointer
{
    const int n = 64;
    const std::complex<float> alpha(0.0f, 1.0f), beta(2.0f, 0.0f);
    std::vector<std::complex<float>> a(n * n), b(n * n, {1.0f, 0.0f});
    for (std::size_t i = 0; i < a.size(); i++)
        a[i] = {float(i), -1.0f};
    cTranspose10_64x64_beta(a.data(), b.data(), &alpha, &beta, nullptr, nullptr);
    int wrong = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            wrong += b[j + n * i] != std::complex<float>(1.0f + 2.0f, float(i + n * j));
    return wrong;
}

}  // namespace

int main()
{
    const int wrong = matrix() + channels() + updated();
    std::printf("many: %d elements are wrong\n", wrong);
    return wrong != 0;
}
