"""The mechanisms, one small file each, which owns its plan, its cost and its draw.

base         what a mechanism is, and everything that the library asks of one
request      what was asked for, checked and settled
plan         what a mechanism will do: its cost, and its draw
row          mechanisms that are a row of the equation in `score.py`
unweighted, weighted, weighted_e, censor_uw, censor_w, ph    the paper's six
anchored     the censored likelihood ratio to a public anchor, and `ladder`, how it climbs
summary      noisy sums of bounded contributions, from which θ is inferred in public, and
             `rounds`, `table_rounds` and `one_round`, what is measured in which order
choosing     which pairs of columns are worth a table, picked privately
noise        discrete Laplace or Gaussian noise on whole numbers
fitting      chains that have converged, or are refused, and what is seen of a target
reference    another table, to learn weights or an anchor from
published    θ as a release publishes it
arguments    each argument, checked by its name
registry     mechanisms by name
"""

from understudy.mechanisms.anchored import Anchored
from understudy.mechanisms.base import Mechanism
from understudy.mechanisms.censor_uw import CensorUw
from understudy.mechanisms.censor_w import CensorW
from understudy.mechanisms.ph import PerturbedHistogram
from understudy.mechanisms.registry import BY_NAME, make_mechanism
from understudy.mechanisms.request import Request
from understudy.mechanisms.row import RowMechanism
from understudy.mechanisms.summary import Summary
from understudy.mechanisms.unweighted import Unweighted
from understudy.mechanisms.weighted import Weighted
from understudy.mechanisms.weighted_e import WeightedE

__all__ = [
    "BY_NAME",
    "Anchored",
    "CensorUw",
    "CensorW",
    "Mechanism",
    "PerturbedHistogram",
    "Request",
    "RowMechanism",
    "Summary",
    "Unweighted",
    "Weighted",
    "WeightedE",
    "make_mechanism",
]
