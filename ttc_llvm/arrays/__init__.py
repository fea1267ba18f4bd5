"""The door for arrays: from what users hand over (`public.py`) to the kernel of its layout, known or new.

`strided.py` decides which kernel serves a layout, `general.py` runs those of a family, `shortcut.py` repeats a call.
"""
