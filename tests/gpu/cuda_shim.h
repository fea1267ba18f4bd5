/* Enough of CUDA C++ for a host compiler: a kernel becomes a function, which the harness of fibres calls for each thread. */
#include <stdint.h>
#define __global__
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))
extern "C" uint32_t ttc_gpu_thread(void), ttc_gpu_block(void);
namespace { struct Index { uint32_t x; }; }
#define threadIdx (Index{ttc_gpu_thread()})
#define blockIdx (Index{ttc_gpu_block()})
