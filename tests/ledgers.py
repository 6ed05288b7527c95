"""What the tests of ledgers charge, where it does not matter what."""

from understudy.privacy.guarantee import Kind

ROWS = {"kind": Kind.STRICT, "unit": "row", "membership": True}
"""A strict guarantee for each row, membership protected."""
