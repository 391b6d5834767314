"""Reductions of Bottleneck, which pandas and others call in the place of NumPy's: they leave NaN out."""

import bottleneck as bn

from . import reduce
from .table import forward, reverse


@reverse(bn.nansum)
def nansum(y, d, a, axis=None):
    return reduce.nansum(y, d, a, axis)


@forward(bn.nansum)
def push_nansum(y, d, a, axis=None):
    return reduce.push_nansum(y, d, a, axis)


@reverse(bn.nanmean)
def nanmean(y, d, a, axis=None):
    return reduce.nanmean(y, d, a, axis)


@forward(bn.nanmean)
def push_nanmean(y, d, a, axis=None):
    return reduce.push_nanmean(y, d, a, axis)


@reverse(bn.nanmax, bn.nanmin)
def nanmax(y, d, a, axis=None):
    return reduce.max_(y, d, a, axis)


@forward(bn.nanmax, bn.nanmin)
def push_nanmax(y, d, a, axis=None):
    return reduce.push_max(y, d, a, axis)


@reverse(bn.nanvar)
def nanvar(y, d, a, axis=None, ddof=0):
    return reduce.nanvar(y, d, a, axis, ddof=ddof)


@forward(bn.nanvar)
def push_nanvar(y, d, a, axis=None, ddof=0):
    return reduce.push_nanvar(y, d, a, axis, ddof=ddof)


@reverse(bn.nanstd)
def nanstd(y, d, a, axis=None, ddof=0):
    return reduce.nanstd(y, d, a, axis, ddof=ddof)


@forward(bn.nanstd)
def push_nanstd(y, d, a, axis=None, ddof=0):
    return reduce.push_nanstd(y, d, a, axis, ddof=ddof)
