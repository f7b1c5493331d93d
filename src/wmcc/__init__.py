"""wmcc: scores for classifiers whose observations do not count equally."""

# The public names stand in __init__.pyi, which type checkers and editors read. This file reads the same stub, and loads
# a name when it is first asked for. So `import wmcc` is quick, who only scores does not wait for certificates, and the
# command line, which imports this first, can answer Ctrl-C and --help before NumPy is here.


def _homes():
    """Return the module of each public name, as the stub has them; None for a name that is a module itself."""
    homes = {}
    with open(f"{__file__.removesuffix('c')}i", encoding="utf-8") as stub:
        for line in stub:
            if line.startswith("from "):
                home, _, names = line.removeprefix("from ").partition(" import ")
                for name in names.split(","):
                    homes[name.split(" as ")[-1].strip()] = None if home == "." else home
    return homes


_HOMES = _homes()
__all__ = sorted(_HOMES, key=str.lower)


def __getattr__(name):
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value = version("wmcc")
    elif name in _HOMES:
        home = _HOMES[name]
        value = import_module(f".{name}", __name__) if home is None else getattr(import_module(home, __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, "__version__"})
