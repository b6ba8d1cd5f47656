# The C functions of src/rows.h; their meaning is written there.

cdef extern from "rows.h" nogil:
    void mf_check(bint holds) noexcept
    const char *mf_build() noexcept
    int mf_all_finite(Py_ssize_t n, const double *x) noexcept
    void mf_sqdist(Py_ssize_t d, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, const double *w,
                   double *r2) noexcept
    void mf_profile(int kind, Py_ssize_t n, const double *r2, double *k) noexcept
    void mf_slope(int kind, Py_ssize_t n, const double *r2, double *h) noexcept
    void mf_weighted_diff(Py_ssize_t d, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z,
                          const double *w, const double *g, double *out) noexcept
    void mf_weighted_sq(Py_ssize_t d, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z,
                        const double *w, const double *g, double *out) noexcept
    double mf_dot(Py_ssize_t n, const double *a, const double *b) noexcept
    void mf_accumulate(Py_ssize_t n, double c, const double *v, double *dot, double *square) noexcept
    void mf_forward(Py_ssize_t first, Py_ssize_t n, Py_ssize_t block, double **rows, const double *rdiag,
                    double *v) noexcept
    void mf_forward_rows(Py_ssize_t n, Py_ssize_t block, double **rows, const double *rdiag, Py_ssize_t m, double *v,
                         Py_ssize_t ldv) noexcept
    void mf_substitute(Py_ssize_t first, Py_ssize_t n, Py_ssize_t block, double **rows, const double *rdiag,
                       Py_ssize_t q, const Py_ssize_t *index, double **pieces) noexcept
    void mf_backward(Py_ssize_t n, Py_ssize_t block, double **rows, const double *rdiag, double *v) noexcept

    void mf_forward_few(Py_ssize_t n, Py_ssize_t block, double **rows, const double *rdiag, double *v) noexcept
    void mf_backward_few(Py_ssize_t n, Py_ssize_t block, double **rows, const double *rdiag, double *v) noexcept

    int MF_GROUP
    int MF_FEW
    int MF_SE
    int MF_MATERN12
    int MF_MATERN32
    int MF_MATERN52
    int MF_MATERN
