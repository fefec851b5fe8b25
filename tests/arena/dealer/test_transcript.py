from __future__ import annotations

import io
import statistics

from arena.dealer.transcript import Progress, Transcript
from arena.runs.statistics import Winnings


def test_quiet_transcript_keeps_warnings_only() -> None:
    stream = io.BytesIO()
    transcript = Transcript(stream, quiet=True)
    transcript.remark("STARTED at 1.000000\n")
    transcript.say("WARNING: invalid action, changed to call\n")
    transcript.flush()
    assert stream.getvalue() == b"WARNING: invalid action, changed to call\n"


def test_winnings_have_mean_and_margin() -> None:
    winnings, chips = Winnings(big_blind=100), [50, -100, 20000, -300]
    for value in chips:
        winnings.add(value)
    in_mbb = [10.0 * value for value in chips]
    assert winnings.mean == statistics.fmean(in_mbb)
    assert abs(winnings.margin - 1.96 * statistics.stdev(in_mbb) / 2) < 1e-6
    assert str(Winnings(100)) == "+0 ± inf mbb/hand"


def test_last_hand_always_shows_the_progress() -> None:
    stream = io.BytesIO()
    progress = Progress(stream, "Alice", hands=2, big_blind=100, overwrite=False)
    progress.hand_finished(0, 100)
    assert stream.getvalue() == b""
    progress.hand_finished(1, 300)
    assert stream.getvalue().decode().startswith("# 2 of 2 hands  Alice +2,000 ± 1,960 mbb/hand")
