"""How much numbers agree with the others of their group, in an engine: running sums over sorted rows, never pairs.

Every different number asks one question at each end of its window. Rows and questions are sorted together, so a running
sum over the rows answers all questions of a group in one pass.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from faithscope.agreements import Agreement, Close, Tolerance
from faithscope.tables.engine.expressions import literal
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.numbers.ends import LAST, window_ends

VALUE = "y0"  # the column of predictions


def agreeing(table: Table, agreement: Agreement, groups: Sequence[str]) -> Table:
    """One line per group and number: its rows (`given`), and the sums of agreement and squared agreement with others.

    Parameters
    ----------
    table : Table
        Rows with the column `y0` and those of the groups; no columns for one group of all rows.

    Returns
    -------
    Table
        The columns of the groups, `y0`, `given`, and per row `agreeing` and `squares`, both without the row itself.
    """
    cells = table.group_by([*groups, VALUE]).aggregate(given=table.count().cast("float64"))
    questions = _Near(agreement.eps) if isinstance(agreement, Close) else _Inside(_tolerance(agreement).eps)
    answers = questions.answered(questions.asked(cells, [*groups, VALUE]), groups)
    return answers.group_by([*groups, VALUE]).aggregate(
        given=answers["given"].sum(), agreeing=answers["answer"].sum() - 1, squares=answers["square"].sum() - 1
    )


def _tolerance(agreement: Agreement) -> Tolerance:
    assert isinstance(agreement, Tolerance)
    return agreement


class _Questions(ABC):
    """The places at which numbers ask for running sums, and what they make of the answers."""

    @abstractmethod
    def asked(self, cells: Table, names: Sequence[str]) -> Table:
        """Rows and questions together: the named columns, `given` (0 for questions), the place, and the `role`."""

    @abstractmethod
    def answered(self, asked: Table, groups: Sequence[str]) -> Table:
        """The same lines with what each adds to the sums of its number: `answer` and `square`."""


@dataclass(frozen=True)
class _Inside(_Questions):
    """Tolerance: the rows up to the end of the window less the rows up to its beginning."""

    eps: float

    def asked(self, cells: Table, names: Sequence[str]) -> Table:
        import ibis

        low, high = window_ends(cells[VALUE], self.eps)
        columns = {name: cells[name] for name in names}
        rows = cells.select(**columns, at=cells[VALUE], after=_whole(0), given=cells["given"], role=_whole(0))
        none = literal(0.0)
        below = cells.select(**columns, at=low.at, after=low.after.cast("int64"), given=none, role=_whole(-1))
        above = cells.select(**columns, at=high.at, after=high.after.cast("int64"), given=none, role=_whole(1))
        return ibis.union(rows, below, above)

    def answered(self, asked: Table, groups: Sequence[str]) -> Table:
        until = _running(asked, "given", groups) * asked["role"]
        return asked.mutate(answer=until, square=until)  # the square of 0 or 1 is itself


@dataclass(frozen=True)
class _Near(_Questions):
    """Close: numbers are cut into bins of width eps, and agree with rows of their own bin and of both beside it.

    Rows of a bin are sorted by their place in it, from 0 to 1, and so are questions from the bins beside, whose places
    lie outside. So all sums are of small numbers, however large the predictions are.
    """

    eps: float

    def asked(self, cells: Table, names: Sequence[str]) -> Table:
        import ibis

        eps = literal(self.eps)
        cells = cells.mutate(bin=(cells[VALUE] / eps).floor().cast("int64"))
        parts = []
        for role in (-1, 0, 1):
            number = cells["bin"] + role
            place = (cells[VALUE] - number.cast("float64") * eps) / eps
            parts.append(
                cells.select(
                    **{name: cells[name] for name in names},
                    bin=number,
                    at=place + role,  # as far as the window reaches into the bin
                    after=_whole(LAST if role else 0),
                    given=literal(0.0) if role else cells["given"],
                    place=place,
                    role=_whole(role),
                )
            )
        return ibis.union(*parts)

    def answered(self, asked: Table, groups: Sequence[str]) -> Table:
        bins, own = [*groups, "bin"], asked["given"] * asked["place"]
        powers = {"n": asked["given"], "p": own, "q": own * asked["place"]}
        lines = asked.mutate(**powers)
        place, role = lines["place"], lines["role"]
        until = {name: _running(lines, name, bins) for name in powers}
        whole = {name: _total(lines, name, bins) for name in powers}
        since = {name: whole[name] - until[name] for name in powers}
        # K is 1 - place + p for rows below, 1 + place - p for rows above.
        below = _line_sums(1 - place, 1, since), _line_sums(1 - place, 1, until)
        above = _line_sums(1 + place, -1, until), _line_sums(1 + place, -1, since)
        sums = {
            name: (role == 0).ifelse(below[1][i] + above[1][i], (role < 0).ifelse(below[0][i], above[0][i]))
            for i, name in enumerate(("answer", "square"))
        }
        return lines.mutate(**sums)


def _line_sums(constant: Expression, slope: int, sums: dict[str, Expression]) -> tuple[Expression, Expression]:
    """The sums of ``constant + slope * p`` and of its square over rows."""
    first = constant * sums["n"] + slope * sums["p"]
    return first, constant * constant * sums["n"] + 2 * slope * constant * sums["p"] + sums["q"]


def _whole(number: int) -> Expression:
    import ibis

    return ibis.literal(number, "int64")


def _running(table: Table, column: str, groups: Sequence[str]) -> Expression:
    """The sum of a column over the lines of the group up to here."""
    import ibis

    window = ibis.cumulative_window(group_by=list(groups), order_by=["at", "after"])
    return table[column].sum().over(window)


def _total(table: Table, column: str, groups: Sequence[str]) -> Expression:
    import ibis

    return table[column].sum().over(ibis.window(group_by=list(groups)))
