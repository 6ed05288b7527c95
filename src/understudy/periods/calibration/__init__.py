"""Choosing a policy on a reference table: settings, a sweep over them, a choice, and a page.

run         all of it, and the policy
sweep       settings that are tried, and how close several draws at each come to the reference
choice      the setting for a stated ε, or for a stated accuracy
words       what a setting costs, in words
page        the risk–utility page, with the picture of accuracy against ε
"""

from understudy.periods.calibration.run import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
