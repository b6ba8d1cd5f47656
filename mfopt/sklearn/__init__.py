"""Hyper-parameters of scikit-learn models: MultiFidelitySearchCV, beside GridSearchCV and its like.

search       the class
run          one run of a search, from its first evaluation to its last
spaces       what may be given as a space, as an mfopt.Space
start        the estimator as it is, the first candidate
opening      the optimiser, new or from a storage
fingerprint  the name of a study from all that its scores depend on
levels       the resource, and how much of it each fidelity has
subsets      nested, stratified parts of the training data
scales       scores as the optimiser is told them
rows         evaluations as rows of cv_results_, failed ones included
failures     evaluations without a score, as the user is warned of them
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("mfopt.sklearn needs scikit-learn: pip install 'mfopt[sklearn]'") from error

from mfopt.sklearn.search import MultiFidelitySearchCV

__all__ = ["MultiFidelitySearchCV"]
