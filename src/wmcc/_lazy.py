"""Public names that are loaded when they are first asked for."""


def lazily(package, stub, **made):
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
