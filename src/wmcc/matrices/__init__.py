"""Weight matrices of neighbours: make them, check a matrix of your own, and score under one.

The paper's S weighs pairs of observations: TP = tᵀSc. With S = diag(w) an observation meets its own prediction only;
entries off the diagonal let it meet those of its neighbours as well, so that a class predicted next door earns part
of the credit. `nearest`, `within`, `grid` and `from_adjacency` make such matrices:

    S = D^½ (I + credit · M) D^½,    M = G^-½ A G^-½

with D = diag(weight), A_ij = 1 where i and j are neighbours (A is symmetric, its diagonal is 0), and G the diagonal
matrix of their numbers of neighbours, the row sums of A. A_ij may also be any number of at least 0.

S is symmetric and its entries are not negative. It is positive definite for 0 ≤ credit < 1 and positive weights:
M has the eigenvalues of G⁻¹A, since G^½ M G^-½ = AG⁻¹ = (G⁻¹A)ᵀ; the rows of G⁻¹A sum to 1 (or to 0, without
neighbours), so none of them is larger than 1 in size; M is symmetric, so they are real. Hence the eigenvalues of
I + credit · M are at least 1 − credit > 0, and multiplying with the invertible D^½ on both sides keeps the sign of
xᵀSx. In float64 the argument holds as long as 1 − credit is well above rounding.

Examples
--------
>>> import wmcc
>>> from wmcc import matrices
>>> S = matrices.grid((1, 3), credit=0.5)
>>> S.toarray().round(3)
array([[1.   , 0.354, 0.   ],
       [0.354, 1.   , 0.354],
       [0.   , 0.354, 1.   ]])
>>> matrices.check(S).positive_definite
True
>>> wmcc.tabulate([0, 0, 1], [0, 1, 1], S).w.round(3)
array([[1.354, 1.707],
       [0.   , 1.354]])
"""

from .checks import MatrixCheck, check
from .correlation import MatrixScore, compare, score
from .neighbours import from_adjacency, grid, nearest, within

__all__ = ["check", "compare", "from_adjacency", "grid", "MatrixCheck", "MatrixScore", "nearest", "score", "within"]
