"""What the run found: surface by surface, stock Spark beside sparkconfig."""

from dataclasses import dataclass, field

from support.surfaces import Surface


@dataclass
class Column:
    """One of the two jobs.

    Attributes:
        surfaces: by name; a surface that was searched at several moments holds the sum.
        followed_rotation: whether the read after the rotation succeeded in the same application.
        old_password_refused: whether the database refused the old password after the rotation.
        executors: tasks that each executor ran, by executor id.
        table: the rows that the application printed, per report.
    """

    title: str
    surfaces: dict[str, Surface] = field(default_factory=dict)
    followed_rotation: bool = False
    old_password_refused: bool = False
    executors: dict[str, int] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)

    def add(self, found: Surface) -> None:
        """Add a search of a surface."""
        known = self.surfaces.setdefault(found.name, Surface(found.name, 0, 0, 0, []))
        known.parts += found.parts
        known.size += found.size
        known.occurrences += found.occurrences
        known.where += found.where

    @property
    def occurrences(self) -> int:
        """Of both passwords on all surfaces."""
        return sum(surface.occurrences for surface in self.surfaces.values())


def problems(stock: Column, ours: Column | None) -> list[str]:
    """Everything that makes this run a failure; nothing when the claim holds."""
    found = _unsound(stock, ours)
    return found + (_broken_promises(ours) if ours else ["the sparkconfig job did not run"])


def _unsound(stock: Column, ours: Column | None) -> list[str]:
    """Why the comparison itself would prove nothing."""
    found = []
    if stock.occurrences == 0:
        found.append("the search found nothing in the stock job either: it does not work")
    if stock.followed_rotation:
        found.append("the stock job read on after the rotation: the database did not check passwords")
    for column in [stock, ours] if ours else [stock]:
        empty = [surface.name for surface in column.surfaces.values() if surface.size == 0]
        found += [f"{column.title}: nothing to search in: {name}" for name in empty]
        if not column.old_password_refused:
            found.append(f"{column.title}: the old password still opened the database")
        if sum(tasks > 0 for tasks in column.executors.values()) < 2:
            found.append(f"{column.title}: fewer than two workers took part")
    return found


def _broken_promises(ours: Column) -> list[str]:
    found = []
    for surface in ours.surfaces.values():
        if surface.occurrences:
            where = ", ".join(surface.where[:5])
            found.append(f"{surface.name}: {surface.occurrences} occurrences, in {where}")
    if not ours.followed_rotation:
        found.append("the read after the rotation failed")
    elif len(set(ours.tables)) != 1:
        found.append("the reports before and after the rotation differ")
    return found


def render(stock: Column, ours: Column | None) -> str:
    """The table for a person."""
    rows = [("surface", "searched for sparkconfig", "stock Spark", "sparkconfig")]
    for name, found in stock.surfaces.items():
        mine = ours.surfaces.get(name) if ours else None
        amount = _amount(mine or found)
        rows.append((name, amount, str(found.occurrences), str(mine.occurrences) if mine else "not run"))
    rows.append(("all", "", str(stock.occurrences), str(ours.occurrences) if ours else "not run"))
    followed = {True: "yes", False: "no: needs a restart"}
    rows.append(
        (
            "next read works after the rotation", "", followed[stock.followed_rotation],
            followed[ours.followed_rotation] if ours else "not run",
        )
    )  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    rule = "-" * (sum(widths) + 6)
    return "\n".join([lines[0], rule, *lines[1:-2], rule, *lines[-2:]])


def _amount(surface: Surface) -> str:
    return f"{surface.parts} parts, {surface.size / 1024:,.0f} KB"
