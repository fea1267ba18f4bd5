/* As much of HIP's module interface as generated headers use. */
#ifndef STUB_HIP_H
#define STUB_HIP_H
#include <stddef.h>
typedef enum { hipSuccess = 0, hipErrorInvalidValue = 1 } hipError_t;
typedef void *hipDeviceptr_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipStream_t *hipStream_t;
#ifdef __cplusplus
extern "C" {
#endif
hipError_t hipModuleLoad(hipModule_t *module, const char *path);
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                 unsigned int by, unsigned int bz, unsigned int shared, hipStream_t stream,
                                 void **parameters, void **extra);
#ifdef __cplusplus
}
#endif
#endif
