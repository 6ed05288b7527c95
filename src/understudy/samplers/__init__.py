"""Drawing θ from the equation, and judging the draws."""
