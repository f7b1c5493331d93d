"""wmcc: scores for classifiers whose observations do not count equally."""

# The public names stand in __init__.pyi. They are loaded when they are asked for, so `import wmcc` is quick, who only
# scores does not wait for certificates, and the command line, which imports this first, can answer Ctrl-C and --help
# before NumPy is here.

from ._lazy import lazily


def _version():
    from importlib.metadata import version

    return version("wmcc")


__all__, __getattr__, __dir__ = lazily(__name__, f"{__file__.removesuffix('c')}i", __version__=_version)
