"""Live display of a training in the terminal: a progress bar and figures."""

from __future__ import annotations

from datetime import timedelta
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from solver.training.run import Report, TrainingRun


class TrainingView:
    """A context manager; call `show` with every report.

    If the output is not a terminal, it prints one line per checkpoint instead.
    """

    def __init__(self, training: TrainingRun, console: Console) -> None:
        game = training.trainer.game
        self._title = (
            f"{training.preset.name}: {len(game.betting.base):,} betting nodes, "
            f"{game.num_infosets:,} infosets, {training.trainer.threads} threads"
        )
        self._console, self._report = console, ""
        self._live = Live(Text(self._title), console=console, refresh_per_second=4)

    def __enter__(self) -> TrainingView:
        if self._console.is_terminal:
            self._live.start()
        else:
            self._print(self._title)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()
        else:
            self.tell_checkpoint()

    def show(self, report: Report) -> None:
        """Show a report in place of the last one."""
        left = timedelta(seconds=round(report.seconds_left))
        speed = (
            f"{report.iterations:,} iterations, {report.iterations_per_s:,.0f}/s, "
            f"{report.nodes_per_s / 1e6:.1f} M nodes/s, {left} left"
        )
        quality = (
            f"regret {report.regret:.4g}, drift {report.drift:.4f}, "
            f"{'averaging' if report.averaging else 'burn-in'}"
        )
        self._report = f"{report.progress:.1%}: {speed}, {quality}"
        bar = ProgressBar(total=1.0, completed=report.progress, width=60)
        self._live.update(Group(Text(self._title), bar, Text(speed), Text(quality)))

    def tell_checkpoint(self) -> None:
        """Print the last report as a line, unless the output is a terminal or it was printed before."""
        if self._report and not self._console.is_terminal:
            self._print(self._report)
            self._report = ""

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
