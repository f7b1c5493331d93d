"""Look at what scripts/wheels built: whether names and tags are true, and files are those that belong there.

    python scripts/check_wheels.py TREE FILE...

TREE is the folder that everything was built from: what is in an archive and not there is from an older build. The
program prints a line for each file, and exits with 1 where something is wrong.
"""

import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

KERNEL = "wmcc/core/kernel/_native.abi3.so"
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
GLIBC = (2, 17)
NAME = re.compile(
    r"wmcc-(?P<version>[\w.]+)-(?:(?P<pure>py3-none-any)"
    r"|cp311-abi3-(?=[\w.]*manylinux_2_17_)(?:\.?manylinux(?:2014|_2_17)_(?P<machine>x86_64|aarch64))+)\.whl"
)


def check(archive, tree):
    """Return sentences on what is wrong with a wheel or an sdist."""
    archive, tree = Path(archive), Path(tree)
    version = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if archive.name.endswith(".tar.gz"):
        return [*_differences(*_sdist(archive, tree, version))]
    if (name := NAME.fullmatch(archive.name)) is None:
        return ["its name is none that a release has"]
    if name["version"] != version:
        return [f"it is of version {name['version']}, the sources of {version}"]
    with zipfile.ZipFile(archive) as wheel:
        return [*_of_wheel(wheel, tree, name)]


def _sdist(archive, tree, version):
    """Return the files that an sdist has, and those that it should have."""
    top = f"wmcc-{version}/"
    with tarfile.open(archive) as file:
        names = {member.name.removeprefix(top) for member in file if not member.isdir()}
    made = {"PKG-INFO", "setup.cfg"}
    kept = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    return {name for name in names if "src/wmcc.egg-info/" not in name} - made, kept


def _differences(there, expected):
    for what, names in (("lacks", expected - there), ("should not hold", there - expected)):
        if names:
            yield f"it {what} {', '.join(sorted(names)[:5])}" + (
                f" and {len(names) - 5} more" if len(names) > 5 else ""
            )


def _of_wheel(wheel, tree, name):
    source = tree / "src"
    code = {path.relative_to(source).as_posix() for path in (source / "wmcc").rglob("*") if path.is_file()}
    expected = {file for file in code if not file.startswith("wmcc/core/kernel/native/")}
    if not name["pure"]:
        expected.add(KERNEL)
    there = {file for file in wheel.namelist() if ".dist-info/" not in file and not file.endswith("/")}
    yield from _differences(there, expected)
    info = f"wmcc-{name['version']}.dist-info"
    lines = wheel.read(f"{info}/WHEEL").decode().splitlines()
    pure = "Root-Is-Purelib: true" in lines
    if pure is not bool(name["pure"]):
        yield "its name says otherwise than `Root-Is-Purelib`"
    _, _, *tags, platforms = wheel.filename.rpartition("/")[2].removesuffix(".whl").split("-")
    named = {"-".join([*tags, platform]) for platform in platforms.split(".")}
    inside = {line.partition(": ")[2] for line in lines if line.startswith("Tag: ")}
    if inside != named:
        yield f"its tags are {', '.join(sorted(inside))}"
    about = wheel.read(f"{info}/METADATA").decode()
    if lost := re.findall(r"\]\((?:docs|src|\w+\.md)[^)]*\)", about):
        yield f"its description has links that lead nowhere: {lost[0]}"
    if not name["pure"] and KERNEL in wheel.namelist():
        yield from _of_kernel(wheel.open(KERNEL), MACHINES[name["machine"]])


def _of_kernel(file, machine):
    """Say what is wrong with a kernel: its machine, symbols of a newer libc, what was not stripped."""
    from elftools.elf.elffile import ELFFile

    kernel = ELFFile(file)
    if kernel["e_machine"] != machine:
        yield f"its kernel is for {kernel['e_machine']}"
    sections = {section.name for section in kernel.iter_sections()}
    if unstripped := {name for name in sections if name == ".symtab" or name.startswith(".debug")}:
        yield f"its kernel is not stripped: {', '.join(sorted(unstripped))}"
    for library, versions in kernel.get_section_by_name(".gnu.version_r").iter_versions():
        for version in versions:
            known = re.fullmatch(r"GLIBC_([\d.]+)", version.name)
            if known is None or tuple(map(int, known[1].split(".")))[:2] > GLIBC:
                yield f"its kernel needs {version.name} of {library.name}"
    if not any(symbol.name == "PyInit__native" for symbol in kernel.get_section_by_name(".dynsym").iter_symbols()):
        yield "its kernel is no module of Python"


if __name__ == "__main__":
    wrong = 0
    for path in map(Path, sys.argv[2:]):
        problems = check(path, sys.argv[1])
        wrong += bool(problems)
        print(f"{path.name}: {path.stat().st_size / 1024:,.0f} KB" + "".join(f"\n  {said}" for said in problems))
    sys.exit(bool(wrong))
