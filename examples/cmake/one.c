/* The paper's first example: A is 8 x 16 x 16 in a 32 x 32 x 32 array, B[i2,i1,i0] <- alpha * A[i0,i1,i2]. */
#include <stdio.h>
#include <stdlib.h>

#include "sTranspose210_8x16x16_lda32x32x32.h"

int main(void)
{
    float *a = malloc(32 * 32 * 32 * sizeof *a);
    float *b = malloc(16 * 16 * 8 * sizeof *b);
    int wrong = 0;

    if (!a || !b)
        return 2;
    for (int i = 0; i < 32 * 32 * 32; i++)
        a[i] = (float)i;
    sTranspose210_8x16x16_lda32x32x32(a, b, 2.0f, NULL, NULL);
    for (int i2 = 0; i2 < 16; i2++)
        for (int i1 = 0; i1 < 16; i1++)
            for (int i0 = 0; i0 < 8; i0++)
                wrong += b[i2 + 16 * (i1 + 16 * i0)] != 2.0f * a[i0 + 32 * (i1 + 32 * i2)];
    printf("one: %d of %d elements are wrong\n", wrong, 8 * 16 * 16);
    free(a);
    free(b);
    return wrong != 0;
}
