/* Loops over contiguous rows of doubles: everything in mfopt_core that is worth vectorising and is not BLAS.
 *
 * Points come as a "structure of arrays": coordinate c of point j is soa[c * ld + j], so that the loop over
 * points is contiguous. w[c] = 1 / lengthscale_c. Scales and noise are the caller's business: kernels here have
 * k(x, x) = 1.
 *
 * A lower-triangular factor L comes as rows of blocks: rows[b] points to block row b, which holds rows
 * b*block .. (b+1)*block - 1 of L as one row-major rectangle with (b+1)*block columns. rdiag[i] = 1 / L_ii.
 *
 * Results are the same from run to run, and do not depend on how a row is cut into pieces, except for sums
 * (dot products), whose order is fixed by their length.
 */
#ifndef MFOPT_ROWS_H
#define MFOPT_ROWS_H

#include <stddef.h>

/* Bounds of the block structures, checked in builds with MFOPT_DEBUG only. */
#ifdef MFOPT_DEBUG
#include <stdio.h>
#include <stdlib.h>
#define mf_check(holds) ((holds) ? (void)0 : (fprintf(stderr, "%s:%d: out of bounds\n", __FILE__, __LINE__), abort()))
#else
#define mf_check(holds) ((void)0)
#endif

enum { MF_SE = 0, MF_MATERN12 = 1, MF_MATERN32 = 2, MF_MATERN52 = 3, MF_MATERN = 4 };

/* "x86-64 dispatch" or "plain C", with ", checked" in a debug build: how this file was compiled. */
const char *mf_build(void);

/* 1 when every x[i] is finite. */
int mf_all_finite(ptrdiff_t n, const double *x);

/* r2[j] = sum_c ((soa[c][j] - z[c]) * w[c])^2, by differences: exact where points nearly coincide. */
void mf_sqdist(ptrdiff_t d, ptrdiff_t n, const double *soa, ptrdiff_t ld, const double *z, const double *w,
               double *r2);

/* k[j] = g(r2[j]), the kernel as a function of the squared scaled distance; k may be r2. kind < MF_MATERN. */
void mf_profile(int kind, ptrdiff_t n, const double *r2, double *k);

/* h[j] = -2 dg/d(r2): dk/dx_c = -h (x_c - z_c) w_c^2 and dk/dlog(lengthscale_c) = h ((x_c - z_c) w_c)^2. h may be r2. */
void mf_slope(int kind, ptrdiff_t n, const double *r2, double *h);

/* out[c] += sum_j g[j] (soa[c][j] - z[c]) w[c]^2 */
void mf_weighted_diff(ptrdiff_t d, ptrdiff_t n, const double *soa, ptrdiff_t ld, const double *z, const double *w,
                      const double *g, double *out);

/* out[c] += sum_j g[j] ((soa[c][j] - z[c]) w[c])^2 */
void mf_weighted_sq(ptrdiff_t d, ptrdiff_t n, const double *soa, ptrdiff_t ld, const double *z, const double *w,
                    const double *g, double *out);

/* sum_i a[i] b[i] */
double mf_dot(ptrdiff_t n, const double *a, const double *b);

/* dot[j] += c v[j]; square[j] += v[j]^2: one more row of the posterior's sums. */
void mf_accumulate(ptrdiff_t n, double c, const double *v, double *dot, double *square);

/* v <- L^-1 v, n rows of L; the first entries, a multiple of MF_GROUP, are done already. */
enum { MF_GROUP = 8 };
void mf_forward(ptrdiff_t first, ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v);

/* The first n entries, a multiple of MF_GROUP, for m right-hand sides v + j * ldv: L is read once for all of them. */
void mf_forward_rows(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, ptrdiff_t m, double *v,
                     ptrdiff_t ldv);

/* Entries first .. n - 1 of v <- L^-1 v, from those before, for the q columns of these numbers: entry p of column j is
 * pieces[p / block][j * block + p % block], and block is a multiple of MF_GROUP. The order of the sum of an entry, and
 * so its last bits, do not depend on `first`, n or q. */
void mf_substitute(ptrdiff_t first, ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag,
                   ptrdiff_t q, const ptrdiff_t *index, double *const *pieces);

/* v <- L^-T v, n rows of L. */
void mf_backward(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v);

/* The same for MF_FEW right-hand sides at once, v[i * MF_FEW + r]: L is read once for all of them. */
enum { MF_FEW = 4 };
void mf_forward_few(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v);
void mf_backward_few(ptrdiff_t n, ptrdiff_t block, double *const *rows, const double *rdiag, double *v);

#endif
