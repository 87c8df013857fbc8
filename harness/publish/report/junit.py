"""Verdicts as JUnit's XML, which build servers read: a case each, findings among what passed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree import ElementTree

from harness.declare.verdict import Word
from harness.publish.check_row import CheckRow
from harness.publish.report.claim_line import ClaimLine
from harness.registry import BrokenTask

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold; an error's words may."""


def junit_xml(rows: Iterable[CheckRow], broken: Sequence[BrokenTask] = ()) -> bytes:
    """Return a suite per task and profile, and one of tasks that cannot be used.

    A check that FAILS is a failure, ERROR an error, what is UNTESTED is skipped. All others
    passed: CONTRADICTED and UNDECIDED are findings, and stand as the property `verdict`.
    """
    top = ElementTree.Element("testsuites", name="repro check")
    for (task, profile), group in groupby(rows, lambda row: (row.task, row.profile)):
        suite = ElementTree.SubElement(top, "testsuite", name=f"{task} at {profile}")
        for row in group:
            _add_case(suite, row)
    if broken:
        suite = ElementTree.SubElement(top, "testsuite", name="broken")
        for item in broken:
            case = ElementTree.SubElement(suite, "testcase", classname=item.id, name=item.file)
            ElementTree.SubElement(case, "error", message=_text(item.reason))
    for suite in top:
        _count(suite)
    _count(top)
    data: bytes = ElementTree.tostring(top, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _add_case(suite: ElementTree.Element, row: CheckRow) -> None:
    line = ClaimLine(row)
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"{row.task}.{row.profile}", name=row.claim, time="0"
    )
    told = {
        "verdict": row.verdict,
        "grade": row.grade,
        "ours": line.ours,
        "asked": line.asked,
        "reason": row.reason,
        "statement": row.statement,
    }
    properties = ElementTree.SubElement(case, "properties")
    for key, value in told.items():
        if value:
            ElementTree.SubElement(properties, "property", name=key, value=_text(value))
    told_as = {Word.ERROR: "error", Word.FAILS: "failure", Word.UNTESTED: "skipped"}
    if tag := told_as.get(Word(row.verdict)):
        message = "; ".join(filter(None, [row.verdict, line.numbers, row.reason]))
        outcome = ElementTree.SubElement(case, tag, message=_text(message))
        outcome.text = _text(row.statement)


def _count(suite: ElementTree.Element) -> None:
    """Note at a suite how many cases it has, and how they ended."""
    cases = list(suite.iter("testcase"))
    suite.set("tests", str(len(cases)))
    for word, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(word, str(sum(case.find(tag) is not None for case in cases)))


def _text(text: str) -> str:
    return _NO_XML.sub("?", text)
