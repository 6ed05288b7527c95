"""Choosing a policy on a reference table: settings, a sweep over them, a choice, and a page.

settings    which mechanisms, ε, T, c₁ and c₂ are tried
sweep       several draws at each setting, and how close they come to the reference
choice      the setting for a stated ε, or for a stated accuracy
words       what a setting costs, in words
page        the risk–utility page
run         all of it, and the policy
"""

from understudy.periods.calibration.run import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
