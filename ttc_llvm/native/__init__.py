"""Files for native programs: headers and modules, objects, archives, shared libraries, and how they are written."""
