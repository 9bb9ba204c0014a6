/* A small array type that adds arrays of different dtypes: both are cast to the dtype that NumPy computes in, one of them transposed. */
#include <lanecast.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct array {
    lanecast_type type;
    lanecast_view view;
} array;

static void stop(const char *what, const lanecast_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

/* The elements of an array as float64, in C order. */
static void read_as(const array *source, lanecast_type type, void *out)
{
    lanecast_plan plan;
    lanecast_error error;
    lanecast_view view = {out, source->view.shape, NULL, source->view.ndim};
    if (lanecast_plan_init(&plan, source->type, type, NULL, &error) != LANECAST_OK) {
        stop("plan", &error);
    }
    if (lanecast_run_strided(&plan, &source->view, &view, lanecast_pool(), &error) != LANECAST_OK) {
        stop("cast", &error);
    }
}

int main(void)
{
    uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
    uint16_t halves[6] = {0x3C00, 0x3800, 0x4000, 0xBC00, 0x7C00, 0x0000}; /* 1, .5, 2, -1, infinity, 0 */
    int64_t shape[2] = {2, 3}, transposed[2] = {1, 2};
    array a = {LANECAST_UINT8, {bytes, shape, transposed, 2}}, b = {LANECAST_FLOAT16, {halves, shape, NULL, 2}};
    lanecast_type type;
    lanecast_error error;
    double x[6], y[6];
    int i;
    if (lanecast_promote(LANECAST_NUMPY, a.type, b.type, &type, &error) != LANECAST_OK) {
        stop("promote", &error);
    }
    printf("%s + %s is computed in %s:", lanecast_type_name(a.type), lanecast_type_name(b.type),
           lanecast_type_name(type));
    /* The sum itself is the affair of the array library; this one has float64 only. */
    read_as(&a, LANECAST_FLOAT64, x);
    read_as(&b, LANECAST_FLOAT64, y);
    for (i = 0; i < 6; i++) {
        printf(" %g", x[i] + y[i]);
    }
    printf("\n");
    return 0;
}
