#include "rows.h"

#include "dispatch.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* GROUP rows of L are solved together, so that GROUP independent sums hide the latency of an addition. */
#define GROUP MF_GROUP

#ifdef MFOPT_DEBUG
const char *mf_build(void) { return BUILD ", checked"; }
#else
const char *mf_build(void) { return BUILD; }
#endif

DISPATCH
int mf_all_finite(ptrdiff_t n, const double *x)
{
    double sum = 0.0; /* 0 * x is 0 for finite x and NaN otherwise */
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++)
        sum += 0.0 * x[i];
    return sum == 0.0;
}

/* ---- kernels ---------------------------------------------------------------------------------------------- */

INLINE void sqdist_d(const ptrdiff_t d, ptrdiff_t n, const double *restrict soa, ptrdiff_t ld,
                     const double *restrict z, const double *restrict w, double *restrict r2)
{
#pragma omp simd
    for (ptrdiff_t j = 0; j < n; j++) {
        double sum = 0.0;
        for (ptrdiff_t c = 0; c < d; c++) {
            double t = (soa[c * ld + j] - z[c]) * w[c];
            sum += t * t;
        }
        r2[j] = sum;
    }
}

/* A constant d lets the compiler unroll the inner loop and keep z and w in registers. */
DISPATCH
void mf_sqdist(ptrdiff_t d, ptrdiff_t n, const double *restrict soa, ptrdiff_t ld, const double *restrict z,
               const double *restrict w, double *restrict r2)
{
    switch (d) {
    case 1: sqdist_d(1, n, soa, ld, z, w, r2); return;
    case 2: sqdist_d(2, n, soa, ld, z, w, r2); return;
    case 3: sqdist_d(3, n, soa, ld, z, w, r2); return;
    case 4: sqdist_d(4, n, soa, ld, z, w, r2); return;
    case 5: sqdist_d(5, n, soa, ld, z, w, r2); return;
    case 6: sqdist_d(6, n, soa, ld, z, w, r2); return;
    case 7: sqdist_d(7, n, soa, ld, z, w, r2); return;
    case 8: sqdist_d(8, n, soa, ld, z, w, r2); return;
    default: break;
    }
    sqdist_d(8, n, soa, ld, z, w, r2);
    for (ptrdiff_t c = 8; c < d; c++) {
        const double *restrict x = soa + c * ld;
#pragma omp simd
        for (ptrdiff_t j = 0; j < n; j++) {
            double t = (x[j] - z[c]) * w[c];
            r2[j] += t * t;
        }
    }
}

/* exp(x) for x <= 0, within 1 ulp; 0 below -708, where the true value is under 1e-307.
 *
 * x = k ln2 + r with |r| <= ln2 / 2 (Cody and Waite: LN2_HI has 21 trailing zero bits, so k LN2_HI is exact), then
 * exp(r) = 1 + r + r^2 q(r) with the minimax q of degree 9 (relative error 3.6e-18), then an exponent shift. No
 * table and no branch: the compiler vectorises a loop around it on any machine. */
INLINE double exp_nonpositive(double x)
{
    const double log2e = 1.4426950408889634, ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer in the low bits */
    double xc = x > -708.0 ? x : -708.0;
    double t = xc * log2e + shift;
    double k = t - shift;
    double r = (xc - k * ln2_hi) - k * ln2_lo;
    double q = 2.5000072292151243666e-08;
    q = q * r + 2.7630233914958635277e-07;
    q = q * r + 2.7557586266408487591e-06;
    q = q * r + 2.4801493136197253069e-05;
    q = q * r + 1.9841269506779663024e-04;
    q = q * r + 1.3888888943597689633e-03;
    q = q * r + 8.3333333334943329904e-03;
    q = q * r + 4.1666666666530265999e-02;
    q = q * r + 1.6666666666666412776e-01;
    q = q * r + 5.0000000000000106167e-01;
    double e = 1.0 + (r + r * r * q);
    int64_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits = (int64_t)((uint64_t)bits << 52); /* k, moved into the exponent field (the shift's own bits fall out) */
    int64_t ebits;
    memcpy(&ebits, &e, sizeof ebits);
    ebits += bits;
    memcpy(&e, &ebits, sizeof e);
    return x > -708.0 ? e : 0.0;
}

#define SQRT3 1.7320508075688772
#define SQRT5 2.23606797749979
#define FAR 1e6 /* kernels are 0 beyond this squared distance; keeps inf out of the polynomials */

INLINE double near(double r2) { return r2 < FAR ? r2 : FAR; }

INLINE double se(double r2) { return exp_nonpositive(-0.5 * r2); }
INLINE double matern12(double r2) { return exp_nonpositive(-sqrt(near(r2))); }
INLINE double matern32(double r2)
{
    double u = SQRT3 * sqrt(near(r2));
    return (1.0 + u) * exp_nonpositive(-u);
}
INLINE double matern52(double r2)
{
    double u = SQRT5 * sqrt(near(r2));
    return (1.0 + u + u * u * (1.0 / 3.0)) * exp_nonpositive(-u);
}
/* The Matern 1/2 kernel has a kink at 0: its slope there is set to 0, the middle of its subdifferential. */
INLINE double matern12_slope(double r2)
{
    double r = sqrt(near(r2));
    return r > 0.0 ? exp_nonpositive(-r) / r : 0.0;
}
INLINE double matern32_slope(double r2) { return 3.0 * exp_nonpositive(-SQRT3 * sqrt(near(r2))); }
INLINE double matern52_slope(double r2)
{
    double u = SQRT5 * sqrt(near(r2));
    return (5.0 / 3.0) * (1.0 + u) * exp_nonpositive(-u);
}

#define MAP(f)                                      \
    {                                               \
        _Pragma("omp simd") for (ptrdiff_t j = 0; j < n; j++) out[j] = f(r2[j]); \
        return;                                     \
    }

DISPATCH
void mf_profile(int kind, ptrdiff_t n, const double *r2, double *out)
{
    switch (kind) {
    case MF_SE: MAP(se)
    case MF_MATERN12: MAP(matern12)
    case MF_MATERN32: MAP(matern32)
    default: MAP(matern52)
    }
}

DISPATCH
void mf_slope(int kind, ptrdiff_t n, const double *r2, double *out)
{
    switch (kind) {
    case MF_SE: MAP(se)
    case MF_MATERN12: MAP(matern12_slope)
    case MF_MATERN32: MAP(matern32_slope)
    default: MAP(matern52_slope)
    }
}

DISPATCH
void mf_weighted_diff(ptrdiff_t d, ptrdiff_t n, const double *soa, ptrdiff_t ld, const double *z, const double *w,
                      const double *g, double *out)
{
    for (ptrdiff_t c = 0; c < d; c++) {
        const double *x = soa + c * ld;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t j = 0; j < n; j++)
            sum += g[j] != 0.0 ? g[j] * ((x[j] - z[c]) * w[c]) : 0.0; /* far away: not 0 times inf */
        out[c] += sum * w[c];
    }
}

DISPATCH
void mf_weighted_sq(ptrdiff_t d, ptrdiff_t n, const double *soa, ptrdiff_t ld, const double *z, const double *w,
                    const double *g, double *out)
{
    for (ptrdiff_t c = 0; c < d; c++) {
        const double *x = soa + c * ld;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t j = 0; j < n; j++) {
            double t = (x[j] - z[c]) * w[c];
            sum += g[j] != 0.0 ? g[j] * (t * t) : 0.0;
        }
        out[c] += sum;
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------- */

INLINE double dot(ptrdiff_t n, const double *restrict a, const double *restrict b)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    ptrdiff_t q = n / 4;
    const double *a1 = a + q, *a2 = a + 2 * q, *a3 = a + 3 * q, *b1 = b + q, *b2 = b + 2 * q, *b3 = b + 3 * q;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (ptrdiff_t i = 0; i < q; i++) {
        s0 += a[i] * b[i];
        s1 += a1[i] * b1[i];
        s2 += a2[i] * b2[i];
        s3 += a3[i] * b3[i];
    }
    for (ptrdiff_t i = 4 * q; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

DISPATCH
double mf_dot(ptrdiff_t n, const double *a, const double *b) { return dot(n, a, b); }

DISPATCH
void mf_accumulate(ptrdiff_t n, double c, const double *restrict v, double *restrict sum, double *restrict square)
{
#pragma omp simd
    for (ptrdiff_t j = 0; j < n; j++) {
        sum[j] += c * v[j];
        square[j] += v[j] * v[j];
    }
}

/* ---- triangular solves, one right-hand side --------------------------------------------------------------- */

/* out[k] = sum_{i<n} a[k * ld + i] v[i] for GROUP rows at once: one load of v serves all of them. */
INLINE void group_dot(ptrdiff_t n, const double *restrict a, ptrdiff_t ld, const double *restrict v,
                      double *restrict out)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0, s5 = 0.0, s6 = 0.0, s7 = 0.0;
    const double *a1 = a + ld, *a2 = a + 2 * ld, *a3 = a + 3 * ld, *a4 = a + 4 * ld, *a5 = a + 5 * ld,
                 *a6 = a + 6 * ld, *a7 = a + 7 * ld;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
    for (ptrdiff_t i = 0; i < n; i++) {
        double x = v[i];
        s0 += a[i] * x;
        s1 += a1[i] * x;
        s2 += a2[i] * x;
        s3 += a3[i] * x;
        s4 += a4[i] * x;
        s5 += a5[i] * x;
        s6 += a6[i] * x;
        s7 += a7[i] * x;
    }
    out[0] = s0; out[1] = s1; out[2] = s2; out[3] = s3;
    out[4] = s4; out[5] = s5; out[6] = s6; out[7] = s7;
}

/* Entries i0 .. i0 + m - 1 of v <- L^-1 v, from those before; l is row i0 of L. */
INLINE void forward_group(ptrdiff_t i0, ptrdiff_t m, const double *l, ptrdiff_t ld, const double *rdiag, double *v)
{
    double sum[GROUP];
    if (m == GROUP)
        group_dot(i0, l, ld, v, sum);
    else
        for (ptrdiff_t k = 0; k < m; k++)
            sum[k] = dot(i0, l + k * ld, v);
    for (ptrdiff_t k = 0; k < m; k++) { /* the triangle, column by column: short dependency chains */
        double x = (v[i0 + k] - sum[k]) * rdiag[i0 + k];
        v[i0 + k] = x;
        for (ptrdiff_t p = k + 1; p < m; p++)
            sum[p] += l[p * ld + i0 + k] * x;
    }
}

DISPATCH
void mf_forward(ptrdiff_t first, ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v)
{
    for (ptrdiff_t i0 = first; i0 < n; i0 += GROUP) {
        ptrdiff_t b = i0 / block, ld = (b + 1) * block;
        forward_group(i0, n - i0 < GROUP ? n - i0 : GROUP, rows[b] + (i0 - b * block) * ld, ld, rdiag, v);
    }
}

DISPATCH
void mf_forward_rows(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, ptrdiff_t m, double *v,
                     ptrdiff_t ldv)
{
    for (ptrdiff_t i0 = 0; i0 < n; i0 += GROUP) {
        ptrdiff_t b = i0 / block, ld = (b + 1) * block;
        for (ptrdiff_t j = 0; j < m; j++)
            forward_group(i0, GROUP, rows[b] + (i0 - b * block) * ld, ld, rdiag, v + j * ldv);
    }
}

DISPATCH
void mf_backward(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v)
{
    double x[GROUP];
    for (ptrdiff_t i0 = (n - 1) / GROUP * GROUP; n > 0 && i0 >= 0; i0 -= GROUP) {
        ptrdiff_t b = i0 / block, ld = (b + 1) * block, m = n - i0 < GROUP ? n - i0 : GROUP;
        const double *l = rows[b] + (i0 - b * block) * ld;
        for (ptrdiff_t k = m - 1; k >= 0; k--) {
            double s = v[i0 + k];
            for (ptrdiff_t p = k + 1; p < m; p++)
                s -= l[p * ld + i0 + k] * x[p];
            x[k] = s * rdiag[i0 + k];
            v[i0 + k] = x[k];
        }
        if (m == GROUP) {
#pragma omp simd
            for (ptrdiff_t j = 0; j < i0; j++)
                v[j] -= ((l[j] * x[0] + l[ld + j] * x[1]) + (l[2 * ld + j] * x[2] + l[3 * ld + j] * x[3]))
                        + ((l[4 * ld + j] * x[4] + l[5 * ld + j] * x[5]) + (l[6 * ld + j] * x[6] + l[7 * ld + j] * x[7]));
        } else {
            for (ptrdiff_t k = 0; k < m; k++)
#pragma omp simd
                for (ptrdiff_t j = 0; j < i0; j++)
                    v[j] -= l[k * ld + j] * x[k];
        }
    }
}

/* ---- triangular solves, MF_FEW right-hand sides ------------------------------------------------------------- */

/* MF_FEW numbers that are added and multiplied together. GCC and Clang have such a type on every machine. */
#if defined(__GNUC__)
typedef double few __attribute__((vector_size(MF_FEW * sizeof(double)), aligned(8)));
#define FEW_AT(v, i) (*(few *)((v) + (i) * MF_FEW))
#define few_times(a, x) ((a) * (x))
#define few_minus(a, b) ((a) - (b))
#define few_plus(a, b) ((a) + (b))
#else
typedef struct { double x[MF_FEW]; } few;
#define FEW_AT(v, i) (*(few *)((v) + (i) * MF_FEW))
INLINE few few_times(double a, few b) { for (int r = 0; r < MF_FEW; r++) b.x[r] *= a; return b; }
INLINE few few_minus(few a, few b) { for (int r = 0; r < MF_FEW; r++) a.x[r] -= b.x[r]; return a; }
INLINE few few_plus(few a, few b) { for (int r = 0; r < MF_FEW; r++) a.x[r] += b.x[r]; return a; }
#endif

DISPATCH
void mf_forward_few(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v)
{
    for (ptrdiff_t i0 = 0; i0 < n; i0 += GROUP) {
        ptrdiff_t b = i0 / block, ld = (b + 1) * block, m = n - i0 < GROUP ? n - i0 : GROUP;
        const double *l = rows[b] + (i0 - b * block) * ld;
        few sum[GROUP];
        for (ptrdiff_t k = 0; k < m; k++)
            sum[k] = FEW_AT(v, i0 + k);
        if (m == GROUP) {
            few s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3], s4 = sum[4], s5 = sum[5], s6 = sum[6], s7 = sum[7];
            for (ptrdiff_t j = 0; j < i0; j++) {
                few x = FEW_AT(v, j);
                s0 = few_minus(s0, few_times(l[j], x));
                s1 = few_minus(s1, few_times(l[ld + j], x));
                s2 = few_minus(s2, few_times(l[2 * ld + j], x));
                s3 = few_minus(s3, few_times(l[3 * ld + j], x));
                s4 = few_minus(s4, few_times(l[4 * ld + j], x));
                s5 = few_minus(s5, few_times(l[5 * ld + j], x));
                s6 = few_minus(s6, few_times(l[6 * ld + j], x));
                s7 = few_minus(s7, few_times(l[7 * ld + j], x));
            }
            sum[0] = s0; sum[1] = s1; sum[2] = s2; sum[3] = s3;
            sum[4] = s4; sum[5] = s5; sum[6] = s6; sum[7] = s7;
        } else {
            for (ptrdiff_t k = 0; k < m; k++)
                for (ptrdiff_t j = 0; j < i0; j++)
                    sum[k] = few_minus(sum[k], few_times(l[k * ld + j], FEW_AT(v, j)));
        }
        for (ptrdiff_t k = 0; k < m; k++) {
            few x = few_times(rdiag[i0 + k], sum[k]);
            FEW_AT(v, i0 + k) = x;
            for (ptrdiff_t p = k + 1; p < m; p++)
                sum[p] = few_minus(sum[p], few_times(l[p * ld + i0 + k], x));
        }
    }
}

DISPATCH
void mf_backward_few(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v)
{
    for (ptrdiff_t i0 = (n - 1) / GROUP * GROUP; n > 0 && i0 >= 0; i0 -= GROUP) {
        ptrdiff_t b = i0 / block, ld = (b + 1) * block, m = n - i0 < GROUP ? n - i0 : GROUP;
        const double *l = rows[b] + (i0 - b * block) * ld;
        few x[GROUP];
        for (ptrdiff_t k = m - 1; k >= 0; k--) {
            few s = FEW_AT(v, i0 + k);
            for (ptrdiff_t p = k + 1; p < m; p++)
                s = few_minus(s, few_times(l[p * ld + i0 + k], x[p]));
            x[k] = few_times(rdiag[i0 + k], s);
            FEW_AT(v, i0 + k) = x[k];
        }
        if (m == GROUP) {
            few x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];
            for (ptrdiff_t j = 0; j < i0; j++) {
                few low = few_plus(few_plus(few_times(l[j], x0), few_times(l[ld + j], x1)),
                                   few_plus(few_times(l[2 * ld + j], x2), few_times(l[3 * ld + j], x3)));
                few high = few_plus(few_plus(few_times(l[4 * ld + j], x4), few_times(l[5 * ld + j], x5)),
                                    few_plus(few_times(l[6 * ld + j], x6), few_times(l[7 * ld + j], x7)));
                FEW_AT(v, j) = few_minus(FEW_AT(v, j), few_plus(low, high));
            }
        } else {
            for (ptrdiff_t k = 0; k < m; k++)
                for (ptrdiff_t j = 0; j < i0; j++)
                    FEW_AT(v, j) = few_minus(FEW_AT(v, j), few_times(l[k * ld + j], x[k]));
        }
    }
}
