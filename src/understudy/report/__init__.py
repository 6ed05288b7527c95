"""The report: one HTML file for the people inside, with nothing to load from anywhere."""

from understudy.report.page import Page, render_comparison, render_side_by_side

__all__ = ["Page", "render_comparison", "render_side_by_side"]
