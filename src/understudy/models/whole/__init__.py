"""The parts of which models of whole tables are made."""
