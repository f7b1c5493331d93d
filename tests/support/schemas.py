"""Results as JSON, held to the schemas of their classes."""

import json
from functools import cache

import jsonschema
from every_result import RESULTS, made

import wmcc
from wmcc.cli.guard import ErrorRecord
from wmcc.present.groups import Groups
from wmcc.report.record import Report

OTHERS = {"joint table": wmcc.JointTable, "joint tables": wmcc.Tables, "report": Report, "error": ErrorRecord}
"""Classes of what is stored under a kind that no result of `made` has."""


@cache
def validator(cls):
    schema = cls.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@cache
def classes():
    return {**{made(name)._kind: type(made(name)) for name in RESULTS}, "groups": Groups, **OTHERS}


def check(data):
    """Hold what was stored to the schema of its kind."""
    validator(classes()[data["kind"]]).validate(data)


def strict(text):
    """JSON as it is defined: Python's knows NaN."""

    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)
