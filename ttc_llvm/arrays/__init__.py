"""Functions of arrays: from the arguments (`public.py`) to the kernel of their layout, known or new.

`native_entry.py` has most calls served by native code. Of the others `transposing.py` checks the arguments, `pairs.py`
makes a problem of two arrays, and `strided.py` decides which kernel serves it.
"""
