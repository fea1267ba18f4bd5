/* Loads a generated transposition and runs it on a CUDA device, by the driver API alone.

   ttc --architecture=cuda --perm=2,1,0 --size=8,16,16 --beta=1 --generateOnly
   cc transpose.c -I/usr/local/cuda/include -lcuda -o transpose && ./transpose sTranspose210_8x16x16.ptx */

#include <stdio.h>
#include <stdlib.h>

#include "sTranspose210_8x16x16.h"

enum { I = 8, J = 16, K = 16, COUNT = I * J * K };

static void check(CUresult status, const char *what)
{
    const char *text = NULL;
    if (status == CUDA_SUCCESS)
        return;
    cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
    exit(1);
}

int main(int argc, char **argv)
{
    static float a[COUNT], b[COUNT];
    sTranspose210_8x16x16_module transpose;
    CUdevice device;
    CUcontext context;
    CUdeviceptr on_a, on_b;
    int i, j, k, wrong = 0;

    for (i = 0; i < COUNT; ++i) {
        a[i] = (float)i;
        b[i] = 1.0f;
    }
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxPushCurrent(context), "cuCtxPushCurrent");
    check(cuMemAlloc(&on_a, sizeof a), "cuMemAlloc");
    check(cuMemAlloc(&on_b, sizeof b), "cuMemAlloc");
    check(cuMemcpyHtoD(on_a, a, sizeof a), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(on_b, b, sizeof b), "cuMemcpyHtoD");

    check(sTranspose210_8x16x16_load(&transpose, argc > 1 ? argv[1] : "sTranspose210_8x16x16.ptx"), "load");
    check(sTranspose210_8x16x16_launch(&transpose, on_a, on_b, 2.0f, 1.0f, NULL), "launch");
    check(cuMemcpyDtoH(b, on_b, sizeof b), "cuMemcpyDtoH"); /* waits for the default stream */
    check(sTranspose210_8x16x16_unload(&transpose), "unload");

    for (k = 0; k < K; ++k)
        for (j = 0; j < J; ++j)
            for (i = 0; i < I; ++i)
                wrong += b[k + K * (j + J * i)] != 2.0f * a[i + I * (j + J * k)] + 1.0f;
    printf("%d of %d elements are wrong\n", wrong, COUNT);
    return wrong != 0;
}
