"""What the compiled core must compute, written as plainly as possible: NumPy, and mpmath with 60 digits."""

import mpmath as mp
import numpy as np

SQRT3, SQRT5 = np.sqrt(3.0), np.sqrt(5.0)


def radial(kernel, r, nu=None):
    """k(x, z)/scale at the scaled distance r."""
    if kernel == "se":
        return np.exp(-0.5 * r**2)
    if kernel == "matern12":
        return np.exp(-r)
    if kernel == "matern32":
        return (1 + SQRT3 * r) * np.exp(-SQRT3 * r)
    if kernel == "matern52":
        return (1 + SQRT5 * r + 5 / 3 * r**2) * np.exp(-SQRT5 * r)
    from scipy.special import gamma, kv

    u = np.sqrt(2 * nu) * np.where(r > 0, r, 1.0)
    return np.where(r > 0, 2 ** (1 - nu) / gamma(nu) * u**nu * kv(nu, u), 1.0)


def covariance(kernel, lengthscale, scale, x, z, nu=None):
    difference = (x[:, None, :] - z[None, :, :]) / lengthscale
    return scale * radial(kernel, np.sqrt((difference**2).sum(axis=2)), nu)


class PlainGP:
    """Rasmussen & Williams, algorithm 2.1, refactorised every time; noise is one variance, or one per row."""

    def __init__(self, kernel, lengthscale, scale, noise, mean=0.0, nu=None):
        self.parameters = kernel, lengthscale, scale
        self.noise, self.mean, self.nu = noise, mean, nu

    def fit(self, x, y):
        self.x = x
        k = covariance(*self.parameters, x, x, self.nu) + self.noise * np.eye(len(x))
        self.factor = np.linalg.cholesky(k)
        self.residual = np.linalg.solve(self.factor, y - self.mean)
        return self

    def posterior(self, z):
        v = np.linalg.solve(self.factor, covariance(*self.parameters, self.x, z, self.nu))
        return self.mean + v.T @ self.residual, self.parameters[2] - (v**2).sum(axis=0)

    def log_marginal_likelihood(self):
        n = len(self.x)
        return -0.5 * self.residual @ self.residual - np.log(np.diag(self.factor)).sum() - 0.5 * n * np.log(2 * np.pi)


class ExactGP:
    """The same with 60 digits, for SE: K, its factor, K⁻¹y and K⁻¹k*, all exact for our purposes."""

    def __init__(self, lengthscale, scale, noises, mean, x, y):
        mp.mp.dps = 60
        self.ell = [mp.mpf(float(v)) for v in np.broadcast_to(lengthscale, x.shape[1])]
        self.scale, self.mean = mp.mpf(float(scale)), mp.mpf(float(mean))
        self.x = [[mp.mpf(float(v)) for v in row] for row in x]
        n = len(x)
        noises = np.broadcast_to(noises, n)
        self.k = mp.matrix(n, n)
        for i in range(n):
            for j in range(i + 1):
                self.k[i, j] = self.k[j, i] = self._kernel(self.x[i], self.x[j])
            self.k[i, i] += mp.mpf(float(noises[i]))
        self.lower = mp.cholesky(self.k, tol=mp.mpf(0))
        self.weights = self._solve(mp.matrix([mp.mpf(float(v)) - self.mean for v in y]))

    def _kernel(self, a, b):
        return self.scale * mp.exp(-sum(((p - q) / w) ** 2 for p, q, w in zip(a, b, self.ell, strict=True)) / 2)

    def _solve(self, b):
        n = self.k.rows
        z = b.copy()
        for i in range(n):
            z[i] = (z[i] - mp.fsum(self.lower[i, j] * z[j] for j in range(i))) / self.lower[i, i]
        for i in range(n - 1, -1, -1):
            z[i] = (z[i] - mp.fsum(self.lower[j, i] * z[j] for j in range(i + 1, n))) / self.lower[i, i]
        return z

    def posterior(self, point):
        """Mean, variance and K⁻¹k* at one point."""
        p = [mp.mpf(float(v)) for v in point]
        k = mp.matrix([self._kernel(row, p) for row in self.x])
        weights = self._solve(k)
        mean = self.mean + mp.fsum(k[i] * self.weights[i] for i in range(k.rows))
        return mean, self.scale - mp.fsum(k[i] * weights[i] for i in range(k.rows)), weights
