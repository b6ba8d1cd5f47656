"""Hyper-parameters of scikit-learn models: MultiFidelitySearchCV, beside GridSearchCV and its like.

search    the class
spaces    what may be given as a space, as an mfopt.Space
opening   the optimiser, new or from a storage
levels    the resource, and how much of it each fidelity has
subsets   nested, stratified parts of the training data
scales    scores as the optimiser is told them
rows      evaluations as rows of cv_results_, failed ones included
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("mfopt.sklearn needs scikit-learn: pip install 'mfopt[sklearn]'") from error

from mfopt.sklearn.search import MultiFidelitySearchCV

__all__ = ["MultiFidelitySearchCV"]
