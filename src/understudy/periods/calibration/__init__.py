"""Choosing a policy on a reference table: settings, a sweep over them, a choice, and a page.

run         all of it, and the policy
settings    which mechanisms, ε and options are tried
sweep       several draws at each setting, and how close they come to the reference
choice      the setting for a stated ε, or for a stated accuracy
words       what a setting costs, in words
frontier    accuracy against ε, as a picture
page        the risk–utility page
"""

from understudy.periods.calibration.run import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
