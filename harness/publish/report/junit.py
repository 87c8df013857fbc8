"""Verdicts as JUnit's XML, which build servers read: a case each, findings among what passed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree import ElementTree

from harness.declare.cohorts import FIRST
from harness.declare.verdict import Word
from harness.publish.report.check_text import Shown, asked, ours
from harness.registry import BrokenTask

NOT_EVALUATED = (Word.OUT_OF_PROFILE, Word.NOT_RUN)
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold; an error's words may."""


def junit_xml(verdicts: Iterable[Shown], broken: Sequence[BrokenTask] = ()) -> bytes:
    """Return a suite per task and profile, and one of tasks that cannot be used.

    A check that FAILS is a failure, ERROR an error, what was not evaluated is skipped. All others
    passed: NOT_REPRODUCED and INCONCLUSIVE are findings, and stand as the property `verdict`.
    Verdicts that decide nothing, and claims that were withdrawn, are left out unless they err.
    """
    verdicts = [
        each
        for each in verdicts
        if each.row.verdict == Word.ERROR or (each.row.decides and each.row.seal != "withdrawn")
    ]
    top = ElementTree.Element("testsuites", name="repro check")
    for (task, profile), group in groupby(verdicts, lambda s: (s.row.task, s.row.profile)):
        suite = ElementTree.SubElement(top, "testsuite", name=f"{task} at {profile}")
        for each in group:
            _add_case(suite, each)
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


def _add_case(suite: ElementTree.Element, each: Shown) -> None:
    row = each.row
    name = row.claim if row.cohort == FIRST else f"{row.claim}@{row.cohort}"
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"{row.task}.{row.profile}", name=name, time="0"
    )
    told = {
        "verdict": row.verdict,
        "seal": row.seal,
        "grade": row.grade,
        "ours": ours(each).removeprefix("ours "),
        "asked": asked(each).removeprefix("asked "),
        "reason": row.reason,
        "statement": each.statement,
    }
    properties = ElementTree.SubElement(case, "properties")
    for key, value in told.items():
        if value:
            ElementTree.SubElement(properties, "property", name=key, value=_text(value))
    told_as = _outcome(each)
    if told_as:
        message = "; ".join(filter(None, [row.verdict, ours(each), asked(each), row.reason]))
        outcome = ElementTree.SubElement(case, told_as, message=_text(message))
        outcome.text = _text(each.statement)


def _outcome(each: Shown) -> str:
    row = each.row
    if row.verdict == Word.ERROR:
        return "error"
    if row.fails:
        return "failure"
    return "skipped" if row.verdict in NOT_EVALUATED else ""


def _count(suite: ElementTree.Element) -> None:
    """Note at a suite how many cases it has, and how they ended."""
    cases = list(suite.iter("testcase"))
    suite.set("tests", str(len(cases)))
    for word, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(word, str(sum(case.find(tag) is not None for case in cases)))


def _text(text: str) -> str:
    return _NO_XML.sub("?", text)
