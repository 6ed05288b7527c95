"""Releases of every period: settings chosen once on a reference, then one charge for each.

pending        one period's release, from its policy and its ledger
policy         what every period's release has in common
period         stretches of time, and which may come next
calibration    how a policy is chosen on a reference table
"""
