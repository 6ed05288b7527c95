"""The paper's simulation study and application, reproduced beside its printed numbers."""
