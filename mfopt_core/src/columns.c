/* Columns of L^-1 r that grow by rows, with the same bits whichever way they came about. */
#include "rows.h"

#include "dispatch.h"

#include <string.h>

#define GROUP MF_GROUP

/* GROUP sums side by side, of every GROUP-th product each, and what they add up to. */
#if defined(__GNUC__)
typedef double lanes __attribute__((vector_size(GROUP * sizeof(double)), aligned(8)));
typedef double half __attribute__((vector_size(GROUP / 2 * sizeof(double)), aligned(8)));
#define LANES_AT(v) (*(const lanes *)(v))
#define lanes_add(s, a, b) ((s) += (a) * (b))
INLINE double add_up(const lanes *s)
{
    half low, high;
    memcpy(&low, s, sizeof low);
    memcpy(&high, (const char *)s + sizeof low, sizeof high);
    low += high;
    return (low[0] + low[2]) + (low[1] + low[3]);
}
#else
typedef struct { double x[GROUP]; } lanes;
#define LANES_AT(v) (*(const lanes *)(v))
#define lanes_add(s, a, b) { for (int r = 0; r < GROUP; r++) (s).x[r] += (a).x[r] * (b).x[r]; }
INLINE double add_up(const lanes *s)
{
    const double *x = s->x;
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}
#endif

/* out[k] -= sum_{i<n} l[k * ld + i] v[i] for m rows, n a multiple of GROUP, and for two columns at once. */
INLINE void subtract_products(ptrdiff_t m, ptrdiff_t n, const double *l, ptrdiff_t ld, const double *v0,
                              const double *v1, double *out0, double *out1)
{
    ptrdiff_t k = 0;
    for (; k + 2 <= m; k += 2) {
        const double *a = l + k * ld, *b = a + ld;
        lanes a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0};
        for (ptrdiff_t i = 0; i < n; i += GROUP) {
            lanes x0 = LANES_AT(v0 + i), x1 = LANES_AT(v1 + i), p = LANES_AT(a + i), q = LANES_AT(b + i);
            lanes_add(a0, p, x0);
            lanes_add(a1, p, x1);
            lanes_add(b0, q, x0);
            lanes_add(b1, q, x1);
        }
        out0[k] -= add_up(&a0);
        out1[k] -= add_up(&a1);
        out0[k + 1] -= add_up(&b0);
        out1[k + 1] -= add_up(&b1);
    }
    for (; k < m; k++) {
        lanes a0 = {0}, a1 = {0};
        for (ptrdiff_t i = 0; i < n; i += GROUP) {
            lanes p = LANES_AT(l + k * ld + i);
            lanes_add(a0, p, LANES_AT(v0 + i));
            lanes_add(a1, p, LANES_AT(v1 + i));
        }
        out0[k] -= add_up(&a0);
        out1[k] -= add_up(&a1);
    }
}

/* The same for one. */
INLINE void subtract_product(ptrdiff_t m, ptrdiff_t n, const double *l, ptrdiff_t ld, const double *v, double *out)
{
    ptrdiff_t k = 0;
    for (; k + 2 <= m; k += 2) {
        const double *a = l + k * ld, *b = a + ld;
        lanes s = {0}, t = {0};
        for (ptrdiff_t i = 0; i < n; i += GROUP) {
            lanes x = LANES_AT(v + i);
            lanes_add(s, LANES_AT(a + i), x);
            lanes_add(t, LANES_AT(b + i), x);
        }
        out[k] -= add_up(&s);
        out[k + 1] -= add_up(&t);
    }
    for (; k < m; k++) {
        lanes s = {0};
        for (ptrdiff_t i = 0; i < n; i += GROUP)
            lanes_add(s, LANES_AT(l + k * ld + i), LANES_AT(v + i));
        out[k] -= add_up(&s);
    }
}

DISPATCH
void mf_substitute(ptrdiff_t first, ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag,
                   ptrdiff_t q, const ptrdiff_t *index, double *const *pieces)
{
    for (ptrdiff_t b = first / block; b * block < n; b++) {
        ptrdiff_t ld = (b + 1) * block, low = first > b * block ? first - b * block : 0;
        ptrdiff_t m = n - b * block < block ? n - b * block : block;
        const double *l = rows[b], *inverse = rdiag + b * block;
        double *v = pieces[b];
        for (ptrdiff_t c = 0; c < b; c++) { /* one rectangle of L for all columns, while it is near */
            const double *a = l + low * ld + c * block, *u = pieces[c];
            ptrdiff_t k = 0;
            for (; k + 2 <= q; k += 2)
                subtract_products(m - low, block, a, ld, u + index[k] * block, u + index[k + 1] * block,
                                  v + index[k] * block + low, v + index[k + 1] * block + low);
            for (; k < q; k++)
                subtract_product(m - low, block, a, ld, u + index[k] * block, v + index[k] * block + low);
        }
        for (ptrdiff_t k = 0; k < q; k++) {
            double *x = v + index[k] * block;
            for (ptrdiff_t i = low, end; i < m; i = end) { /* a group of rows, or what is left of it */
                ptrdiff_t done = i - i % GROUP;
                end = done + GROUP < m ? done + GROUP : m;
                const double *a = l + b * block + i * ld;
                subtract_product(end - i, done, a, ld, x, x + i);
                for (ptrdiff_t p = i; p < end; p++) {
                    double value = x[p];
                    for (ptrdiff_t j = done; j < p; j++)
                        value -= l[b * block + p * ld + j] * x[j];
                    x[p] = value * inverse[p];
                }
            }
        }
    }
}
