"""Functions of arrays: from the arguments (`public.py`) to the kernel of their layout, known or new.

`pairs.py` makes a problem of two arrays, `strided.py` decides which kernel serves it, `general.py` runs those of a
family, `shortcut.py` repeats a call.
"""
