/* Adds arrays of different dtypes, one of them transposed: both are cast to float64, and NumPy's rules name the dtype of the sum. */
#include <lanecast.h>

#include <stdio.h>
#include <stdlib.h>

/* Casts an array to float64 in C order. */
static void read_as_float64(const lanecast_array *from, double *out)
{
    const lanecast_array to = {.data = out, .type = LANECAST_FLOAT64, .ndim = from->ndim, .shape = from->shape};
    lanecast_plan plan;
    lanecast_error error;
    if (lanecast_plan_init(&plan, from->type, to.type, NULL, &error) != LANECAST_OK ||
        lanecast_run_array(&plan, from, &to, lanecast_pool(), &error) != LANECAST_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
}

int main(void)
{
    uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
    uint16_t halves[6] = {0x3C00, 0x3800, 0x4000, 0xBC00, 0x7C00, 0x0000}; /* 1, .5, 2, -1, infinity, 0 */
    const int64_t shape[2] = {2, 3}, transposed[2] = {1, 2};
    const lanecast_array a = {.data = bytes, .type = LANECAST_UINT8, .ndim = 2, .shape = shape, .strides = transposed};
    const lanecast_array b = {.data = halves, .type = LANECAST_FLOAT16, .ndim = 2, .shape = shape};
    lanecast_type sum;
    double x[6], y[6];
    int i;
    read_as_float64(&a, x);
    read_as_float64(&b, y);
    if (lanecast_promote(LANECAST_STANDARD_NUMPY, a.type, b.type, &sum, NULL) != LANECAST_OK) {
        return 1;
    }
    printf("%s + %s is %s:", lanecast_type_name(a.type), lanecast_type_name(b.type), lanecast_type_name(sum));
    for (i = 0; i < 6; i++) {
        printf(" %g", x[i] + y[i]);
    }
    printf("\n");
    return 0;
}
