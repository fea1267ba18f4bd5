"""GPUs: plans, nests and code; the driver, arrays on a device, tuning there; and the files that native programs load.

Only what runs or times a kernel needs a driver, and is not imported before a GPU is meant: plans, code and files are
made on any machine. pycuda (`pip install ttc_llvm[cuda]`) gives the tuner its memory and events; launches go
through the driver itself, because streams of other libraries cannot be wrapped by pycuda.
"""
