"""wmcc in the clothes of other libraries. Nothing here is imported by ``import wmcc``."""
