"""Logistic and Poisson regression by an optimiser that knows nothing of ours."""

import numpy as np
from scipy.optimize import minimize


def logistic_by_optimiser(design: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    return _by_optimiser(
        design, outcome, lambda linear: np.logaddexp(0, linear), lambda t: 1 / (1 + np.exp(-t))
    )


def poisson_by_optimiser(design: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    return _by_optimiser(design, outcome, np.exp, np.exp)


def _by_optimiser(design, outcome, cumulant, mean) -> np.ndarray:
    """Minimise Σ A(xb) − y·xb, with A' the mean."""

    def loss(b):
        linear = design @ b
        return cumulant(linear).sum() - outcome @ linear

    def slope(b):
        return design.T @ (mean(design @ b) - outcome)

    best = minimize(loss, np.zeros(design.shape[1]), jac=slope, method="BFGS", tol=1e-9)
    return best.x
