"""Spectra of `scipy.linalg` whose equal values are moved apart, as in ``runtime/linalg/degenerate.py``."""

from scipy import linalg

from ...runtime.linalg.degenerate import eig_near, eigh_near, svd_near

__all__ = ["eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals"]


def eigh(a, b=None, *, eigvals_only=False, **settings):
    """``scipy.linalg.eigh``, perturbed."""
    values, vectors = eigh_near(*linalg.eigh(a, b, **settings))
    return values if eigvals_only else (values, vectors)


def eigvalsh(a, b=None, **settings):
    """``scipy.linalg.eigvalsh``, perturbed as `eigh` is."""
    return eigh(a, b, eigvals_only=True, **settings)


def eig(a, b=None, left=False, right=True, **settings):
    """``scipy.linalg.eig``, perturbed."""
    values, vectors = eig_near(*linalg.eig(a, b, left, **settings))
    return (values, vectors) if right else values


def eigvals(a, b=None, **settings):
    """``scipy.linalg.eigvals``, perturbed as `eig` is."""
    return eig(a, b, right=False, **settings)


def svd(a, full_matrices=True, compute_uv=True, **settings):
    """``scipy.linalg.svd``, perturbed."""
    u, s, vh = svd_near(*linalg.svd(a, full_matrices, **settings))
    return (u, s, vh) if compute_uv else s


def svdvals(a, **settings):
    """``scipy.linalg.svdvals``, perturbed as `svd` is."""
    return svd(a, compute_uv=False, **settings)
