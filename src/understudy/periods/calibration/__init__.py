"""Choosing a policy on a reference table: settings, a sweep over them, a choice, and a page.

run         all of it, and the policy
sweep       settings that are tried, and how close several draws at each come to the reference
choice      the setting for a stated ε, or for a stated accuracy
page        the risk–utility page: what a setting costs in words, accuracy against ε in a picture
"""

from understudy.periods.calibration.run import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
