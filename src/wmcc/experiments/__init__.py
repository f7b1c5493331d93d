"""The paper's experiments (Section 5), with every parameter open."""

__all__: list[str] = []
