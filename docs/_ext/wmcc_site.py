"""Pages that are made of the package itself, links from names to them, and what Sphinx does not check.

The tables of docs/reference list each public name once (``autosummary``). A page is written for each before Sphinx
reads the sources: its signature, its docstring, its picture, and where it is explained. Pages of commands are made of
their own help.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args, get_origin

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

import wmcc
from wmcc.cli.commands import NAMES as COMMANDS
from wmcc.measures import MEASURES, ClassMeasure, Measure

log = logging.getLogger(__name__)

WITH_INHERITED = {"wmcc.Table", "wmcc.JointTable", "wmcc.Tables"}
"""Classes whose page has the members that they share with each other."""

PICTURES = {
    "wmcc.plot.areas": ("howto/plots/areas.png", "Bars of mapped areas, and estimates with intervals on them"),
    "wmcc.plot.classes": ("howto/plots/classes.png", "Scores of each class as dots, with their intervals as bars"),
    "wmcc.plot.confusion": ("howto/plots/confusion.png", "A confusion table as squares of colour, with shares"),
    "wmcc.plot.curve": ("howto/plots/curve.png", "MCC by threshold, with intervals and a band, and the best threshold"),
    "wmcc.plot.forest": (
        "howto/plots/forest.png",
        "Scores of several classifiers, one below the other, with intervals",
    ),
    "wmcc.plot.funnel": (
        "howto/plots/funnel.png",
        "The certified range of a score, which widens as weights are off by more",
    ),
    "wmcc.plot.influence": ("howto/plots/influence.png", "Bars of the cells whose weights move a score most"),
    "wmcc.plot.map": ("howto/plots/map.png", "A map of right and wrong area, with a scale bar and a legend"),
    "wmcc.plot.mcc_f1": ("howto/plots/mcc-f1.png", "The MCC–F1 curve, with its best point and the line of chance"),
    "wmcc.plot.precision_recall": ("howto/plots/precision-recall.png", "Weighted precision against recall"),
    "wmcc.plot.roc": ("howto/plots/roc.png", "A weighted ROC curve above the line of chance"),
    "wmcc.plot.separation": (
        "understand/experiments/figure-2.png",
        "Traces of four measures as predictions become better",
    ),
    "wmcc.plot.shares": ("howto/plots/shares.png", "The share of all weight that the heaviest rows have"),
    "wmcc.plot.weights": ("howto/plots/weights.png", "A histogram of weights"),
    "wmcc.error_map": ("howto/plots/map-of-class.png", "The errors of one class of a map: missed, and taken for it"),
    "wmcc.certify": (
        "howto/plots/funnel.png",
        "The certified range of a score, which widens as weights are off by more",
    ),
    "wmcc.write_report": ("howto/report.png", "The top of a report, in light and dark"),
    "wmcc.weightmaps.border": ("understand/weightmaps/border.png", "Weights that are high in gaps between objects"),
    "wmcc.weightmaps.distance": (
        "understand/weightmaps/distance.png",
        "Weights that fall with the distance to a class",
    ),
    "wmcc.weightmaps.boundary_band": ("understand/weightmaps/band.png", "Weights of a band along boundaries"),
    "wmcc.weightmaps.instance_size": (
        "understand/weightmaps/size.png",
        "Weights by which objects of any size count alike",
    ),
}
"""Pictures of names, and what is to be seen in them."""

RETURNED_BY = {
    "results.Certificate": "certify", "results.Comparison": "compare", "results.Curve": "certify",
    "results.Diagnosis": "diagnose", "results.Difference": "compare", "results.ErrorMap": "error_map",
    "results.Estimate": "map_accuracy", "results.ImageScores": "image_scores", "results.Interval": "interval",
    "results.Lead": "certify_ranking", "results.MapAccuracy": "map_accuracy", "results.Radius": "radius",
    "results.Ranking": "certify_ranking", "results.SamplePlan": "plan_sample", "results.Score": "score",
    "results.DrawnSample": "draw_sample",
    "results.Sensitivity": "sensitivity", "results.TrimmingCurve": "certify_trimming",
    "results.Uncertainty": "results.uncertainty", "Table": "tabulate", "JointTable": "tabulate", "Tables": "tabulate",
    "results.ThresholdCurve": "curve", "results.ScoreInterval": "interval",
    "demo.Map": "demo.make_map",
    "results.BestThreshold": "best_threshold", "results.ScoreTable": "tabulate", "results.ClassScores": "tabulate",
    "matrices.MatrixCheck": "matrices.check", "matrices.MatrixScore": "matrices.score",
    "published.PublishedBound": "published.binary", "experiments.Separation": "experiments.separation",
    "experiments.Trace": "experiments.separation", "experiments.Verdict": "experiments.verdicts",
    "adapters.sklearn.Scorer": "adapters.sklearn.scorer",
}  # fmt: skip
"""What nobody makes by hand, and the function that makes it: there is the example."""

INTERNAL = "blocks, lines, records, fields, kinds, kind, with_traceback, add_note"
"""Members of results by which they are shown and stored."""

EXPLAINED = {
    "reference/grammar": "tabulate Table JointTable Tables merge",
    "howto/data": "Files Join",
    "howto/streams": "Accumulator merge",
    "howto/report": "write_report",
    "howto/plots": "plot.",
    "understand/measures": "accuracy ecc mcc mean_iou mpc1 mpc2 score measures. results.Score",
    "understand/inference": "interval compare diagnose bootstrap results.Interval results.Comparison "
    "results.Difference results.Diagnosis",
    "understand/certificates": "certify radius certify_ranking certify_trimming sensitivity results.Certificate "
    "results.Curve results.Radius results.Lead results.Ranking results.Sensitivity results.TrimmingCurve "
    "results.Uncertainty results.uncertainty",
    "understand/thresholds": "best_threshold curve plot.curve plot.mcc_f1 plot.roc plot.precision_recall "
    "measures.ExpectedGain measures.ScoreMeasureName results.ThresholdCurve results.ScoreInterval "
    "results.BestThreshold results.ScoreTable results.ClassScores",
    "understand/theory": "certify radius certify_ranking certify_trimming",
    "understand/designs": "Strata PostStrata Replicates",
    "understand/designs-maps": "Strata map_accuracy plan_sample results.Estimate results.MapAccuracy "
    "results.SamplePlan draw_sample results.DrawnSample",
    "understand/designs-surveys": "Strata PostStrata Replicates certify_trimming",
    "understand/maps": "Layer Overlay Raster Area Blocks error_map map_accuracy results.ErrorMap",
    "understand/segmentation": "image_scores results.ImageScores adapters.torch.Tally adapters.torchmetrics.",
    "understand/loss": "adapters.torch.correlation_loss adapters.torch.CorrelationLoss",
    "understand/gpu": "adapters.torch.Tally",
    "understand/weightmaps": "weightmaps.",
    "understand/matrices": "matrices.",
    "understand/experiments": "experiments.",
    "understand/errata": "published.",
    "start": "demo.",
    "reference/errors": "errors.",
    "reference/results": "results.",
    "tutorials/probabilities": "best_threshold curve",
    "tutorials/segmentation": "image_scores adapters.torch.Tally adapters.torchmetrics.",
    "howto/scikit-learn": "adapters.sklearn.",
    "coming-from": "adapters.sklearn.",
}
"""Pages, and the names that they explain; a name that ends with a dot stands for all that begin with it."""

GONE = {"wmcc.raster", "wmcc.balanced_accuracy", "wmcc.mean_f1", "wmcc.kappa"}
"""Names of earlier versions, of which the changelog says what took their place."""


def defined_in(module) -> list[str]:
    """Return what a module defines itself, and does not hide."""
    return [
        name
        for name, x in vars(module).items()
        if getattr(x, "__module__", "") == module.__name__ and not name.startswith("_")
    ]


def public_names() -> dict[str, object]:
    """Return all public names, each with what it is."""
    from wmcc import demo, errors, experiments, matrices, measures, plot, published, results, weightmaps
    from wmcc.adapters import sklearn as adapter

    names: dict[str, object] = {}
    for module in (wmcc, results, measures, plot, weightmaps, matrices, published, experiments, demo, adapter):
        for name in getattr(module, "__all__", None) or defined_in(module):
            thing = getattr(module, name)
            if not inspect.ismodule(thing) and not (module is measures and name in wmcc.__all__):
                names[f"{module.__name__}.{name}"] = thing
    for name, thing in vars(errors).items():
        if (
            isinstance(thing, type)
            and issubclass(thing, (errors.WmccError, Warning))
            and thing.__module__ == "wmcc.errors"
        ):
            names[f"wmcc.errors.{name}"] = thing
    # PyTorch is not installed where the site is made, so these are read from the source.
    package = Path(wmcc.__file__).parent / "adapters"
    listed = re.search(r"__all__ = \[(.*?)\]", (package / "torch" / "__init__.py").read_text(), re.S)
    assert listed is not None
    names |= {f"wmcc.adapters.torch.{name}": None for name in re.findall(r'"(\w+)"', listed[1])}
    bases = r"^class (\w+)\((?:torchmetrics\.Metric|TableMetric|WeightedScore)\)"
    classes = re.findall(bases, (package / "torchmetrics.py").read_text(), re.M)
    names |= {f"wmcc.adapters.torchmetrics.{name}": None for name in classes}
    return names


def explained(name: str) -> list[str]:
    """Return the pages that explain a name."""
    short = name.removeprefix("wmcc.")
    return [
        page
        for page, names in EXPLAINED.items()
        if any(short == own or (own.endswith(".") and short.startswith(own)) for own in names.split())
    ]


def example(name: str, measure: Measure | ClassMeasure) -> list[str]:
    """Return an example of a measure, with what it prints now."""
    lines = [
        "import wmcc",
        'truth, model = ["oak", "oak", "elm", "elm"], ["oak", "elm", "elm", "elm"]',
        "table = wmcc.tabulate(truth, model, [300, 2, 7.5, 40])",
    ]
    names = {"wmcc": wmcc}
    exec("\n".join(lines), names)
    return [
        "",
        ".. rubric:: Examples",
        "",
        *(f">>> {line}" for line in lines),
        f">>> {name}(table)",
        repr(measure(names["table"])),
    ]


def page_of(name: str, thing: object) -> str:
    """Return the page of a public name."""
    module, _, last = name.rpartition(".")
    lines = [name, "=" * len(name), "", f".. currentmodule:: {module}", ""]
    if isinstance(thing, (Measure, ClassMeasure)):
        about = "(table, *, zero_division=0.0)", f"{last}(y_true, y_pred, *, sample_weight=None, zero_division=0.0)"
        text = inspect.cleandoc(thing.__doc__ or "")
        lines += [
            f".. py:function:: {last}{about[0]}",
            f"                 {about[1]}",
            "",
            *(f"   {x}" for x in [*text.splitlines(), *example(name, thing)]),
        ]
    elif isinstance(thing, dict):
        text = {"MEASURES": "All measures, by name.", "CLASS_MEASURES": "All measures of one class, by name."}[last]
        lines += [f".. py:data:: {last}", "", f"   {text}", "", *(f"   - ``{key}``" for key in thing)]
    elif get_origin(thing) is Literal:
        lines += [f".. py:data:: {last}", "", "   One of", "", *(f"   - ``{x!r}``" for x in get_args(thing))]
    elif thing is None:
        lines += [f".. auto{'function' if last[0].islower() else 'class'}:: {last}"]
        lines += ["   :members:"] if last == "Tally" else []
        if module == "wmcc.adapters.torchmetrics" and last not in ("TableMetric", "WeightedScore"):
            base = "TableMetric" if last in ("WeightedClassScores", "WeightedConfusionMatrix") else "WeightedScore"
            lines += ["", f"What it takes is what `{base}` takes."]
    elif isinstance(thing, type):
        lines += [f".. autoclass:: {last}"]
        if not issubclass(thing, Exception):
            lines += ["   :members:", f"   :exclude-members: {INTERNAL}"]
        if name in WITH_INHERITED:
            lines += ["   :inherited-members: Mapping"]
    else:
        lines += [f".. autofunction:: {last}"]
    maker = RETURNED_BY.get(name.removeprefix("wmcc."))
    if maker and ">>>" not in (thing.__doc__ or ""):
        lines += ["", f"Returned by :py:obj:`wmcc.{maker}`, where there is an example."]
    if name in PICTURES:
        picture, text = PICTURES[name]
        lines += ["", f".. image:: /{picture}", f"   :alt: {text}", "   :class: api-picture"]
    if pages := explained(name):
        lines += ["", ".. rubric:: Where it is explained", "", *(f"- :doc:`/{page}`" for page in pages)]
    return "\n".join(lines) + "\n"


def write_pages(app: Sphinx) -> None:
    """Write a page for each public name that has none by hand, and for each command; remove those of gone names."""
    source = Path(app.srcdir)
    by_hand = {"wmcc.tabulate"}
    files = app.config.autosummary_filename_map
    pages = {
        source / "reference/api" / f"{files.get(name, name)}.rst": page_of(name, x)
        for name, x in public_names().items()
        if name not in by_hand
    }
    for command in COMMANDS:
        lines = [f".. click:: wmcc.cli.{command}:command", f"   :prog: wmcc {command}", "   :nested: full"]
        pages[source / "reference/commands" / f"{command}.rst"] = "\n".join(lines) + "\n"
    for folder in {path.parent for path in pages}:  # which hold nothing else
        folder.mkdir(exist_ok=True)
        for old in set(folder.glob("*.rst")) - set(pages):
            old.unlink()
    pages[source / "reference/sentences.rst"] = sentences_page()
    for path, text in pages.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


ERRORS = {
    "InputError",
    "LabelError",
    "WeightError",
    "TooManyClassesError",
    "InputTypeError",
    "UndefinedMeasureError",
    "SchemaError",
    "MissingDependencyError",
}

OF_CLICK = {
    "No such option '…'. (Did you mean one of: …?)": "`wmcc score --help` has the options of a command",
    "No such command '…'.": "`wmcc --help` has the commands",
    "Missing argument 'FILE...'.": "name the file of the data; `-` is standard input",
    "Option '…' requires an argument.": "",
    "Got unexpected extra arguments (…)": "put quotation marks around a name with a space",
    "Invalid value for '…': '…' is not one of ….": "",
    "Invalid value for '…': '…' is not a valid float.": "",
}
"""What Click, which reads the options, says of them, and what to do."""


def sentence(node: ast.expr | None) -> str:
    """Return the text of an expression, with … for what is known only when it is raised."""
    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str) else "…"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(sentence, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return sentence(node.left) + sentence(node.right)
    if isinstance(node, ast.IfExp):
        return max(sentence(node.body), sentence(node.orelse), key=len)
    return "…"


def raised_by(call: ast.Call) -> tuple[str, str, str] | None:
    """Return the class, the sentence and the hint of a call that makes an error or warns, if it is one."""
    args, function = [sentence(x) for x in call.args], call.func
    keywords = {x.arg: sentence(x.value) for x in call.keywords}
    if isinstance(function, ast.Attribute) and function.attr == "of" and len(args) > 2:
        function, args = function.value, [f"`{args[0]}` is …; expected {args[2]}.", *args[3:]]
    if not isinstance(function, ast.Name) or function.id not in {*ERRORS, "warn"} or not args:
        return None
    if len(re.findall(r"\w{2,}", args[0])) < 3:
        return None
    if function.id == "warn":
        return "Warnings", args[0], ""
    hint = args[1] if len(args) > 1 else keywords.get("hint", "")
    return function.id, args[0], hint if hint.strip("… ") else ""


def with_defaults(tree: ast.Module) -> ast.Module:
    """Put texts that parameters are by default into the sentences of their function."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            given = function.args
            names = [x.arg for x in (*given.posonlyargs, *given.args)]
            pairs = zip(reversed(names), reversed(given.defaults), strict=False)
            texts = {
                name: x for name, x in pairs if isinstance(x, ast.Constant) and isinstance(x.value, str) and x.value
            }
            for node in ast.walk(function):
                if isinstance(node, ast.JoinedStr):
                    node.values = [texts.get(getattr(getattr(x, "value", None), "id", ""), x) for x in node.values]
    return tree


def raised() -> dict[str, set[tuple[str, str]]]:
    """Return sentences of errors and their hints, by class, as the source has them."""
    found: dict[str, set[tuple[str, str]]] = {}
    for path in Path(wmcc.__file__).parent.rglob("*.py"):
        for node in ast.walk(with_defaults(ast.parse(path.read_text(encoding="utf-8")))):
            if isinstance(node, ast.Call) and (made := raised_by(node)):
                found.setdefault(made[0], set()).add(made[1:])
    return dict(sorted(found.items()))


def sentences_page() -> str:
    """Return the page of all sentences, for whoever searches for the words of one."""
    lines = [
        "All sentences of errors",
        "=======================",
        "",
        "Every message, as the source has it; … stands for what was given, such as a name or a value. After the arrow",
        "comes the hint.",
        ":doc:`errors` explains those that new users meet most.",
        "",
    ]
    for name, texts in raised().items():
        if texts:
            lines += [name, "-" * len(name), ""]
        for text, hint in sorted(texts, key=lambda x: (x[0].strip("…`'").lower(), x)):
            lines.append("- " + escaped(text) + (f" → {escaped(hint)}" if hint else ""))
        lines.append("")
    lines += ["Options of the command line", "---------------------------", ""]
    lines += ["- " + escaped(text) + (f" → {escaped(hint)}" if hint else "") for text, hint in OF_CLICK.items()]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return a text that reST shows as it is."""
    return " ".join(re.sub(r"([\\`*_|<>])", r"\\\1", text).split())


class PicturesOf(SphinxDirective):
    """The pictures of a page, each with the code that stands before it there, and a link to its section."""

    required_arguments = 1

    def run(self):
        """Make a card of each picture."""
        page = self.arguments[0]
        path = Path(self.env.srcdir) / f"{page}.md"
        self.env.note_dependency(str(path))
        head, code, cards = "", "", []
        pattern = (
            r"^#+ (?P<head>[^\n]*)$|^```(?:python|pycon)\n(?P<code>.*?)^```$|^!\[(?P<alt>[^\]]*)\]\((?P<file>.*?)\)$"
        )
        for match in re.finditer(pattern, path.read_text(), re.M | re.S):
            if match["head"]:
                head, code = match["head"], ""
            elif match["code"]:
                code = match["code"].strip()
            elif code:
                slug = re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")
                picture = (Path(page).parent / match["file"]).as_posix()
                link = f"[{head}](/{page}.md#{slug})"
                cards += [":::{grid-item}", ":class: gallery-item", "", link, "", f"![{match['alt']}](/{picture})", ""]
                cards += ["```python", *shown(code), "```", ":::", ""]
        lines = StringList(["::::{grid} 1 1 2 2", ":gutter: 3", "", *cards, "::::"], source=str(path))
        holder = nodes.container()
        self.state.nested_parse(lines, 0, holder)
        return holder.children


def shown(code: str) -> list[str]:
    """Return the lines that one types, without what is printed."""
    return [line[4:] for line in code.splitlines() if line.startswith((">>> ", "... "))]


def soft_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """A name in single backquotes: a link, if it is public, and code in any case."""
    env = inliner.document.settings.env
    node = reference_to(text.removesuffix("()"), text, env)
    return [node], []


def reference_to(target: str, text: str, env) -> nodes.Node:
    """Return code that becomes a link where the name has a page."""
    node = addnodes.pending_xref("", refdomain="py", reftype="obj", reftarget=target, refexplicit=False, refwarn=False)
    node["refdoc"], node["soft"] = env.docname, True
    node["py:module"], node["py:class"] = env.ref_context.get("py:module"), env.ref_context.get("py:class")
    node += nodes.literal(text, text, classes=["xref"])
    return node


class LinkPages(SphinxTransform):
    """Make links of pages that CHANGELOG.md and CONTRIBUTING.md name by their path."""

    default_priority = 301

    def apply(self, **_):
        """Look at texts and code."""
        for node in list(self.document.findall(nodes.Text)):
            parent = node.parent
            if not PAGE.search(node) or isinstance(parent, (nodes.literal_block, nodes.comment)):
                continue
            outside = parent if isinstance(parent, nodes.literal) else node
            if isinstance(outside.parent, (nodes.reference, addnodes.pending_xref)) or (
                outside is parent and not PAGE.fullmatch(node)
            ):
                continue
            parts, end = [], 0
            for match in PAGE.finditer(node):
                link = addnodes.pending_xref("", refdomain="std", reftype="doc", reftarget=f"/{match[1]}")
                link["refdoc"], link["refwarn"], link["refexplicit"] = self.env.docname, True, False
                link += nodes.inline("", match[1], classes=["xref", "std", "std-doc"])
                parts += [nodes.Text(node[end : match.start()]), link]
                end = match.end()
            outside.parent.replace(outside, [*parts, nodes.Text(node[end:])])


class LinkNames(SphinxTransform):
    """Make links of code such as `wmcc.interval`, `interval(table)` and `mcc` in the text of pages."""

    default_priority = 300
    pattern = re.compile(r"(?:\w+ = )?(wmcc(?:\.\w+)+)(?:\(.*\)(?:\.\w+)*)?")
    call = re.compile(rf"({'|'.join(wmcc.__all__)})\(.*\)|({'|'.join(MEASURES)})")

    def apply(self, **_):
        """Look at the code of a page, and leave out the empty line that ends a doctest."""
        for block in self.document.findall(nodes.literal_block):
            text = block.astext().rstrip()
            block.rawsource, block.children = text, []
            block += nodes.Text(text)
        for node in list(self.document.findall(nodes.literal)):
            inside = node.parent
            while inside is not None and not isinstance(inside, (nodes.title, nodes.reference, addnodes.pending_xref)):
                inside = inside.parent
            match = inside is None and (self.pattern.fullmatch(node.astext()) or self.call.fullmatch(node.astext()))
            if match:
                name = match[1] or match[2]
                node.replace_self(reference_to(name, node.astext(), self.env))


def resolve(app, env, node, contnode):
    """Find what a name without its module stands for; leave names without a page as code."""
    if not node.get("soft"):
        return None
    domain, target = env.domains["py"], node["reftarget"]
    module = node.get("py:module") or "wmcc"
    owner = f"{module}.{node['py:class']}." if node.get("py:class") else f"{module}."
    for place in ("", owner, f"{module}.", "wmcc.", "wmcc.results.", "wmcc.errors.", "wmcc.measures."):
        entry = domain.objects.get(place + target)
        if entry is not None:
            from sphinx.util.nodes import make_refnode

            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, place + target)
    if target.startswith("wmcc.") and target not in GONE and not exists(target):
        log.warning("there is no %s in the package", target, location=node)
    return contnode


def exists(name: str) -> bool:
    """Whether the package has a name, public or not; a module may be one whose own imports are not installed here."""
    owner, _, last = name.rpartition(".")
    try:
        if find_spec(name) is not None:
            return True
    except (ImportError, AttributeError):  # the owner is no module
        pass
    try:
        thing = pkgutil.resolve_name(owner)
    except (ImportError, AttributeError):
        return False
    return hasattr(thing, last) or last in getattr(thing, "__dataclass_fields__", ())


BARS = re.compile(r"(?<!\\)\|(\S[^|]*)\|")  # |x| is no substitution
PAGE = re.compile(r"`{0,2}docs/([\w/-]+)\.md`{0,2}")


def link_pages(app, what, name, thing, options, lines):
    """Make links of the pages that a docstring names."""
    for k, line in enumerate(lines):
        if ">>>" not in line:
            parts = re.split(r"(``.*?``)", line)
            lines[k] = "".join(part if part.startswith("``") else BARS.sub(r"\\|\1\\|", part) for part in parts)
        lines[k] = PAGE.sub(r":doc:`/\1`", lines[k])


def escape_options(app, ctx, lines):
    """Keep stars of patterns in the help of options, and link the pages that it names."""
    for k, line in enumerate(lines):
        lines[k] = PAGE.sub(r":doc:`/\1`", line.replace("*", r"\*"))


def name_attributes(app, what, name, thing, options, lines):
    """Call attributes what a dataclass has as parameters, if nobody makes one by hand."""
    if what == "class" and name.removeprefix("wmcc.") in RETURNED_BY and "Attributes" not in lines:
        for k, line in enumerate(lines[:-1]):
            if line == "Parameters" and lines[k + 1].startswith("---"):
                lines[k : k + 2] = ["Attributes", "----------"]


def shorten(app, doctree):
    """Name pages in the contents by the last part of the name; the heading of their group has the rest."""
    if app.env.docname == "reference/index":
        for tree in doctree.findall(addnodes.toctree):
            entries = [(title or name.rpartition(".")[2], name) for title, name in tree["entries"]]
            if tree["includefiles"] and all("/api/" in name for name in tree["includefiles"]):
                tree["entries"] = [(title.removesuffix("-function"), name) for title, name in entries]


def sign(app, what, name, thing, options, signature, returns):
    """Leave out how a result is made, which nobody does by hand; sign classes whose base is not installed here."""
    if what == "class" and name.removeprefix("wmcc.") in RETURNED_BY:
        return "", ""
    if what == "class" and signature == "(*args, **kwargs)" and inspect.isfunction(thing.__init__):
        _, *parameters = inspect.signature(thing.__init__).parameters.values()
        return stringify_signature(inspect.Signature(parameters), show_annotation=False), ""
    return None


def check_names(app, env):
    """Say which public names have no page, and which pages want to be in no contents."""
    for page, about in env.metadata.items():
        if "orphan" in about:
            log.warning("a page must not be an orphan; name it in the toctree of the index beside it", location=page)
    objects = env.domains["py"].objects
    for name in public_names():
        if name not in objects:
            log.warning("%s is public and has no page; list it in docs/reference", name)


def check_pictures(app, doctree):
    """Say which pictures have no text beside them."""
    for image in doctree.findall(nodes.image):
        if len((image.get("alt") or "").split()) < 2:
            log.warning("the picture %s has no text (alt) that says what is to be seen", image["uri"], location=image)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all this with Sphinx."""
    app.connect("builder-inited", write_pages, priority=100)
    app.add_directive("pictures-of", PicturesOf)
    app.add_role("wmcc", soft_role)
    app.add_transform(LinkNames)
    app.add_transform(LinkPages)
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-docstring", name_attributes, priority=100)
    app.connect("autodoc-process-docstring", link_pages, priority=900)
    app.connect("doctree-read", shorten, priority=100)
    app.connect("autodoc-process-signature", sign)
    app.connect("sphinx-click-process-options", escape_options)
    app.connect("env-check-consistency", check_names)
    app.connect("doctree-read", check_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
