"""Plan objects of emitted libraries: transpositions of shapes that only run time knows, for C and C++."""
