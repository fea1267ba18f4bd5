"""GPUs at run time: the driver, arrays on a device, tuning there, and the files that native programs load.

Nothing here is imported before a GPU is meant, and only what runs or times a kernel needs a driver: plans, code and
files are made on any machine. pycuda (`pip install ttc_llvm[cuda]`) gives the tuner its memory and events; launches go
through the driver itself, because streams of other libraries cannot be wrapped by pycuda.
"""
