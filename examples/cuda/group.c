/* Loads a generated group and transposes all its blocks on a CUDA device by one launch, by the driver API alone.

   printf -- '--perm=1,0 --size=48,32\n--perm=2,1,0 --size=7,5,6\n--perm=1,0 --size=48,32\n' > blocks.txt
   ttc --manifest=blocks.txt --architecture=cuda
   cc group.c -I/usr/local/cuda/include -lcuda -o group && ./group blocks.ptx */

#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"

static const int shapes[blocks_BLOCKS][3] = {{48, 32, 1}, {7, 5, 6}, {48, 32, 1}};
static const int swapped[blocks_BLOCKS] = {1, 2, 1}; /* the index of A that comes first in B */

static void check(CUresult status, const char *what)
{
    const char *text = NULL;
    if (status == CUDA_SUCCESS)
        return;
    cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
    exit(1);
}

static int place_in_b(int block, int i, int j, int k)
{
    const int *n = shapes[block];
    return swapped[block] == 1 ? j + n[1] * i : k + n[2] * (j + n[1] * i);
}

int main(int argc, char **argv)
{
    static float a[4096], b[4096];
    blocks_module group;
    CUdevice device;
    CUcontext context;
    CUdeviceptr on_a, on_b, addresses, pairs[2 * blocks_BLOCKS];
    int block, i, j, k, at, starts[blocks_BLOCKS], count = 0, wrong = 0;

    for (block = 0; block < blocks_BLOCKS; ++block) {
        starts[block] = count;
        count += shapes[block][0] * shapes[block][1] * shapes[block][2];
    }
    for (i = 0; i < count; ++i) {
        a[i] = (float)i;
        b[i] = 1.0f;
    }
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxPushCurrent(context), "cuCtxPushCurrent");
    check(cuMemAlloc(&on_a, sizeof a), "cuMemAlloc");
    check(cuMemAlloc(&on_b, sizeof b), "cuMemAlloc");
    check(cuMemAlloc(&addresses, sizeof pairs), "cuMemAlloc");
    for (block = 0; block < blocks_BLOCKS; ++block) {
        pairs[2 * block] = on_a + sizeof(float) * (size_t)starts[block];
        pairs[2 * block + 1] = on_b + sizeof(float) * (size_t)starts[block];
    }
    check(cuMemcpyHtoD(on_a, a, sizeof a), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(on_b, b, sizeof b), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(addresses, pairs, sizeof pairs), "cuMemcpyHtoD");

    check(blocks_load(&group, argc > 1 ? argv[1] : "blocks.ptx"), "load");
    check(blocks_launch(&group, addresses, 0, 2.0f, 1.0f, NULL), "launch"); /* 0: they need not be aligned */
    check(cuMemcpyDtoH(b, on_b, sizeof b), "cuMemcpyDtoH"); /* waits for the default stream */
    check(blocks_unload(&group), "unload");

    for (block = 0; block < blocks_BLOCKS; ++block)
        for (k = 0, at = starts[block]; k < shapes[block][2]; ++k)
            for (j = 0; j < shapes[block][1]; ++j)
                for (i = 0; i < shapes[block][0]; ++i, ++at)
                    wrong += b[starts[block] + place_in_b(block, i, j, k)] != 2.0f * a[at] + 1.0f;
    printf("%d of %d elements are wrong\n", wrong, count);
    return wrong != 0;
}
