"""wmcc: scores for classifiers whose observations do not count equally."""

# The public names stand in __init__.pyi. They are loaded when they are asked for, so `import wmcc` is quick, who only
# scores does not wait for certificates, and the command line, which imports this first, can answer Ctrl-C and --help
# before NumPy is here. This module imports nothing: Ctrl-C in an import would show a traceback.


def _lazily(package, stub, **made):
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package whose stub, its .pyi, names what is public.

    Type checkers and editors read the same stub. ``made`` has functions that make what no module holds.
    """
    homes = {}
    with open(stub, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("from "):
                home, _, names = line.removeprefix("from ").partition(" import ")
                for name in names.split(","):
                    homes[name.split(" as ")[-1].strip()] = home
    names = sorted(homes, key=str.lower)

    def of_module(name):
        import sys
        from importlib import import_module
        from importlib.util import find_spec

        if name in made:
            value = made[name]()
        elif homes.get(name, ".") != ".":
            value = getattr(import_module(homes[name], package), name)
        elif name in homes or (not name.startswith("_") and find_spec(f".{name}", package)):
            value = import_module(f".{name}", package)  # modules that are seldom needed are not listed
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def listed():
        import sys

        return sorted({*vars(sys.modules[package]), *names, *made})

    return names, of_module, listed


def _version():
    from importlib.metadata import version

    return version("wmcc")


__all__, __getattr__, __dir__ = _lazily(__name__, f"{__file__.removesuffix('c')}i", __version__=_version)
