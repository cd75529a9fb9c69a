"""The sections of a report, one file each: to add one, write its file, and name its question here."""

from faithscope.report.explainer import Question
from faithscope.report.sections.contradictions import CONTRADICTIONS
from faithscope.report.sections.discretizations import DISCRETIZATIONS
from faithscope.report.sections.hidden import HIDDEN
from faithscope.report.sections.leakage import LEAKAGE
from faithscope.report.sections.populations import POPULATIONS
from faithscope.report.sections.rows import ROWS

QUESTIONS: tuple[Question, ...] = (CONTRADICTIONS, POPULATIONS, ROWS, HIDDEN, LEAKAGE, DISCRETIZATIONS)
