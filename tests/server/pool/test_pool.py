"""The worker pool: every decision gets a legal answer and is counted, whatever happens to workers."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from protocol.errors import ProtocolError
from server.config.config import WorkersConfig
from server.decisions import DecisionRequest, Rung
from server.pool.answers import make_agent_answerer
from server.pool.dispatcher import Dispatcher
from server.pool.fallback import BlueprintFallback
from server.pool.worker_process import WorkerProcess, WorkerSpec
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.server.stand_ins import FACTORY, StandInFallback, ask, run, until

ONE = WorkersConfig(count=1, memory_mb=0, late_seconds=300.0, hang_seconds=600.0, nice=0)
FOUR = replace(ONE, count=4)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it may take more than a second to look something up."""
    monkeypatch.setattr("server.pool.dispatcher._LOOK_UP_SECONDS", 60.0)


@asynccontextmanager
async def pool(
    config: WorkersConfig = ONE, fallback: StandInFallback | None = None, wait: bool = True
) -> AsyncIterator[Dispatcher]:
    dispatcher = Dispatcher(config, WorkerSpec(FACTORY), fallback or StandInFallback())
    await dispatcher.start()
    try:
        if wait:
            await until(lambda: idle(dispatcher) == config.count)
        yield dispatcher
    finally:
        await dispatcher.close()


def idle(dispatcher: Dispatcher) -> int:
    return sum(worker.state == "idle" for worker in dispatcher.status().workers)


def busy_pids(dispatcher: Dispatcher) -> list[int]:
    return [worker.pid for worker in dispatcher.status().workers if worker.state == "busy"]


def counted(dispatcher: Dispatcher, name: str, **labels: str) -> float:
    return dispatcher.metrics.registry.get_sample_value(f"fathom_{name}", labels) or 0.0


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_workers_answer_is_returned_completely() -> None:
    async def check() -> None:
        async with pool() as workers:
            answer = await workers.decide(ask(betting="r300"))
            assert answer.action == "c"
            assert answer.rung is Rung.SOLVED
            assert answer.context == b"after r300"
            assert answer.probabilities.shape == (1, 1326)
            assert answer.ranges.dtype == "float32"
            assert counted(workers, "decisions_total", rung="solved") == 1
            assert counted(workers, "queue_wait_seconds_count") == 1
            assert counted(workers, "deadline_margin_seconds_count") == 1
            assert counted(workers, "solve_seconds_count", street="preflop", method=answer.method) == 1

    run(check())


def test_workers_are_other_processes_and_end_with_the_pool() -> None:
    async def check() -> list[int]:
        async with pool(FOUR) as workers:
            answers = await asyncio.gather(*[workers.decide(ask("sleep:0.3")) for _ in range(4)])
            pids = {int(answer.method.removeprefix("pid ")) for answer in answers}
            assert len(pids) == 4
            assert os.getpid() not in pids
            return sorted(pids)

    assert not any(is_alive(pid) for pid in run(check()))


def test_a_solve_is_stopped_at_its_deadline_and_its_best_result_returned() -> None:
    async def check() -> None:
        async with pool() as workers:
            answer = await workers.decide(ask("sleep", seconds=1.0))
            assert answer.rung is Rung.BEST_SO_FAR
            assert counted(workers, "fallbacks_total", rung="best_so_far", reason="cut_short") == 1
            # The next decision is not stopped by what stopped the last one.
            assert (await workers.decide(ask())).rung is Rung.SOLVED

    run(check())


def test_a_decisions_progress_can_be_read() -> None:
    async def check() -> None:
        async with pool() as workers:
            first, second = ask("count"), ask("count")
            assert workers.progress(first) is None, "not asked for yet"
            asked = asyncio.ensure_future(workers.decide(first))
            waiting = asyncio.ensure_future(workers.decide(second))
            await until(lambda: workers.progress(first) is not None)
            seen = workers.progress(first)
            assert seen is not None
            assert seen.most_iterations == 10**9
            await until(lambda: (workers.progress(first) or seen).iterations > seen.iterations)
            assert workers.progress(second) is None, "equal to the first, but not the same"
            workers.stop_all()
            await asked
            assert workers.progress(first) is None
            await until(lambda: workers.progress(second) is not None)
            workers.stop_all()
            await waiting

    run(check())


def test_the_decision_of_a_dead_worker_goes_to_another_worker(tmp_path: Path) -> None:
    async def check() -> None:
        async with pool(replace(ONE, count=2)) as workers:
            answer = await workers.decide(ask(f"die:{tmp_path / 'mark'}"))
            assert answer.rung is Rung.SOLVED
            assert counted(workers, "redispatches_total") == 1
            assert counted(workers, "worker_restarts_total", reason="died") == 1
            await until(lambda: idle(workers) == 2)

    run(check())


def test_a_killed_lone_worker_is_replaced_and_its_decision_waits() -> None:
    async def check() -> None:
        async with pool() as workers:
            asked = asyncio.ensure_future(workers.decide(ask("sleep")))
            await until(lambda: len(busy_pids(workers)) == 1)
            os.kill(busy_pids(workers)[0], signal.SIGKILL)
            await until(lambda: counted(workers, "redispatches_total") == 1)
            await until(lambda: len(busy_pids(workers)) == 1)
            workers.stop_all()
            assert (await asked).rung is Rung.BEST_SO_FAR
            assert counted(workers, "redispatches_total") == 1

    run(check())


def test_a_worker_that_hangs_is_killed_and_the_blueprint_answers() -> None:
    config = replace(ONE, late_seconds=0.05, hang_seconds=1.0)

    async def check() -> None:
        async with pool(config) as workers:
            (pid,) = [worker.pid for worker in workers.status().workers]
            os.kill(pid, signal.SIGSTOP)
            answer = await workers.decide(ask(seconds=0.05))
            assert answer.rung is Rung.BLUEPRINT
            reasons = [
                counted(workers, "fallbacks_total", rung="blueprint", reason=reason)
                for reason in ("late", "queue_wait")  # the latter if it was just asked whether it is there
            ]
            assert sum(reasons) == 1
            await until(lambda: counted(workers, "worker_restarts_total", reason="hung") >= 1)
            await until(lambda: not is_alive(pid))
            await until(lambda: idle(workers) == 1)
            assert (await workers.decide(ask())).rung is Rung.SOLVED

    run(check())


def test_a_hanging_idle_worker_is_replaced_before_it_gets_a_decision() -> None:
    async def check() -> None:
        async with pool(replace(ONE, late_seconds=0.05, hang_seconds=0.5)) as workers:
            (pid,) = [worker.pid for worker in workers.status().workers]
            os.kill(pid, signal.SIGSTOP)
            await until(lambda: counted(workers, "worker_restarts_total", reason="hung") >= 1)
            await until(lambda: not is_alive(pid))
            await until(lambda: idle(workers) == 1)
            assert sum(worker.decisions for worker in workers.status().workers) == 0

    run(check())


def test_a_stopped_worker_does_not_delay_closing() -> None:
    async def check() -> int:
        async with pool(replace(ONE, late_seconds=0.05)) as workers:
            (pid,) = [worker.pid for worker in workers.status().workers]
            os.kill(pid, signal.SIGSTOP)
            answer = await workers.decide(ask(seconds=0.05, context=bytes(4_000_000)))
            assert answer.rung is Rung.BLUEPRINT
            return pid

    assert not is_alive(run(check()))


def test_a_worker_that_ignores_stop_does_not_delay_others() -> None:
    config = replace(ONE, count=2, late_seconds=0.05)

    async def check() -> None:
        async with pool(config) as workers:
            assert (await workers.decide(ask("deaf", seconds=1.0))).rung is Rung.BLUEPRINT
            assert len(busy_pids(workers)) == 1
            for _ in range(3):
                assert (await workers.decide(ask())).rung is Rung.SOLVED

    run(check())


@pytest.mark.parametrize(("match", "reason"), [("error", "worker_error"), ("illegal", "illegal")])
def test_an_illegal_answer_is_replaced(match: str, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with pool() as workers:
            answer = await workers.decide(ask(match))
            assert answer.rung is Rung.BLUEPRINT
            assert counted(workers, "fallbacks_total", rung="blueprint", reason=reason) == 1
            assert (await workers.decide(ask())).rung is Rung.SOLVED

    run(check())
    assert "AsKd" not in caplog.text  # requests must not be logged


@pytest.mark.parametrize(("betting", "action"), [("", "f"), ("c", "c"), ("r20000", "f")])
@pytest.mark.parametrize("broken", ["raise", "r1", "nonsense"])
def test_the_last_rung_is_check_or_fold(betting: str, action: str, broken: str) -> None:
    async def check() -> None:
        async with pool(fallback=StandInFallback(broken), wait=False) as workers:
            answer = await workers.decide(ask(seconds=0.0, betting=betting))
            assert (answer.rung, answer.action) == (Rung.CHECK_FOLD, action)
            assert counted(workers, "fallbacks_total", rung="check_fold", reason="no_time") == 1

    run(check())


def test_a_full_queue_falls_back_for_the_match_with_most_requests() -> None:
    config = replace(ONE, queue=2)

    async def check() -> None:
        async with pool(config) as workers:
            running = asyncio.ensure_future(workers.decide(ask("sleep")))
            await until(lambda: len(busy_pids(workers)) == 1)
            greedy = [asyncio.ensure_future(workers.decide(ask("greedy"))) for _ in range(3)]
            await asyncio.sleep(0)
            modest = asyncio.ensure_future(workers.decide(ask("modest")))
            await asyncio.wait(greedy[1:])
            running.cancel()
            rungs = [(await answer).rung for answer in greedy]
            assert rungs == [Rung.SOLVED, Rung.BLUEPRINT, Rung.BLUEPRINT]
            assert (await modest).rung is Rung.SOLVED
            assert counted(workers, "fallbacks_total", rung="blueprint", reason="queue_full") == 2

    run(check())


def test_a_deadline_in_the_queue_is_kept() -> None:
    async def check() -> None:
        async with pool() as workers:
            running = asyncio.ensure_future(workers.decide(ask("sleep")))
            await until(lambda: len(busy_pids(workers)) == 1)
            answer = await workers.decide(ask(seconds=0.05))
            assert answer.rung is Rung.BLUEPRINT
            assert counted(workers, "fallbacks_total", rung="blueprint", reason="queue_wait") == 1
            workers.stop_all()
            assert (await running).rung is Rung.BEST_SO_FAR

    run(check())


def test_one_decision_gets_all_cores_and_several_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.pool.dispatcher.usable_cores", lambda: 4)

    async def check() -> None:
        async with pool(replace(ONE, count=2)) as workers:
            assert (await workers.decide(ask())).iterations == 4  # the stand-in tells its threads
            both = await asyncio.gather(*[workers.decide(ask("sleep:0.2")) for _ in range(2)])
            assert sorted(answer.iterations for answer in both) == [2, 4]
        async with pool(replace(ONE, threads=1)) as workers:
            assert (await workers.decide(ask())).iterations == 1

    run(check())


def test_a_worker_using_too_much_memory_is_replaced_once_another_is_warm() -> None:
    async def check() -> None:
        async with pool(replace(ONE, memory_mb=0)) as workers:
            plain = workers.status().workers[0].own_mb
        async with pool(replace(ONE, memory_mb=int(plain) + 32)) as workers:
            (old,) = [worker.pid for worker in workers.status().workers]
            assert (await workers.decide(ask("leak"))).rung is Rung.SOLVED
            assert (
                await workers.decide(ask())
            ).rung is Rung.SOLVED  # at once, before the replacement is warm
            await until(lambda: counted(workers, "worker_restarts_total", reason="memory") == 1)
            await until(lambda: idle(workers) == 1)
            (new,) = [worker.pid for worker in workers.status().workers]
            assert new != old
            assert (await workers.decide(ask())).method == f"pid {new}"

    run(check())


def test_a_cancelled_caller_frees_its_worker() -> None:
    async def check() -> None:
        async with pool() as workers:
            asked = asyncio.ensure_future(workers.decide(ask("sleep")))
            await until(lambda: len(busy_pids(workers)) == 1)
            asked.cancel()
            await until(lambda: idle(workers) == 1)

    run(check())


def test_closing_drains_running_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.pool.dispatcher._LAST_WORD_SECONDS", 60.0)

    async def check() -> None:
        async with pool(replace(ONE, count=2)) as workers:
            quick = asyncio.ensure_future(workers.decide(ask("sleep:0.2")))
            slow = asyncio.ensure_future(workers.decide(ask("sleep")))
            await until(lambda: len(busy_pids(workers)) == 2)
            await workers.close(drain_seconds=5.0)
            assert (await quick).rung is Rung.SOLVED
            assert (await slow).rung is Rung.BEST_SO_FAR
            late = await workers.decide(ask(betting="r300"))
            assert late.rung in (Rung.BLUEPRINT, Rung.CHECK_FOLD)

    run(check())


def test_workers_that_cannot_start_are_reported_and_the_blueprint_plays() -> None:
    async def check() -> None:
        spec = WorkerSpec(FACTORY, {"refuse": "no such blueprint"})
        dispatcher = Dispatcher(ONE, spec, StandInFallback())
        await dispatcher.start()
        try:
            await until(lambda: bool(dispatcher.status().failure))
            assert "no such blueprint" in dispatcher.status().failure
            assert not dispatcher.is_ready
            assert (await dispatcher.decide(ask(seconds=0.05))).rung is Rung.BLUEPRINT
            assert counted(dispatcher, "worker_restarts_total", reason="start_failed") >= 1
        finally:
            await dispatcher.close()

    run(check())


def test_estimates_are_sent_with_a_later_answer() -> None:
    async def check() -> None:
        async with pool() as workers:
            for match in ("estimate", "quick", "quick"):
                await workers.decide(ask(match))
            name = "solve_exploitability_big_blinds"
            assert counted(workers, f"{name}_count", street="river") == 1
            assert counted(workers, f"{name}_sum", street="river") == 0.75

    run(check())


@pytest.mark.parametrize("betting", ["xyz", "r1", "f", "cc"])
def test_finished_or_illegal_betting_is_rejected(betting: str) -> None:
    async def check() -> None:
        async with pool(wait=False) as workers:
            with pytest.raises((ProtocolError, ValueError)):
                await workers.decide(ask(betting=betting))

    run(check())


def test_messages_round_trip() -> None:
    from server.pool.messages import LENGTH, Task, pack_task, unpack_task

    request = DecisionRequest("m", "r300c/", (0, 5, 51), 1325, b"\x00\xff", 2**63 - 1, 0.25)
    packed = pack_task(Task(3, request, 0.2, 2))
    assert LENGTH.unpack(packed[:4]) == (len(packed) - 4,)
    assert unpack_task(packed[4:]) == Task(3, request, 0.2, 2)


def test_the_agent_gives_the_same_answers_in_a_worker(tmp_path: Path) -> None:
    """With the real agent; any worker can continue from another one's context."""
    blueprint = made_up_blueprint(tmp_path, WIDE)
    fallback = BlueprintFallback(blueprint)
    # It may take very long to compile: what has to be compiled is, once and before anybody waits for it.
    make_agent_answerer(str(blueprint.path)).warm_up()
    fallback.warm_up()

    async def check() -> None:
        spec = WorkerSpec(arguments={"blueprint": str(blueprint.path)})
        workers = Dispatcher(ONE, spec, fallback)
        await workers.start()
        try:
            await workers.wait_until_ready()
            context: bytes | None = None
            for betting, board, played in (
                ("", (), "c"),
                ("cr300c/c", (0, 5, 9), "r600"),
                ("cr300c/cr600c/r1200", (0, 5, 9, 13), "c"),
                ("cr300c/cr600c/r1200c/c", (0, 5, 9, 13, 22), "c"),
            ):
                request = DecisionRequest("m", betting, board, 1325, context, 7, 1.0, played)
                answer = await workers.decide(request)
                assert answer.rung in (Rung.SOLVED, Rung.BEST_SO_FAR)
                assert answer.probabilities.shape == (len(answer.actions), 1326)
                assert answer.ranges.shape == (2, 1326)
                fallen = await workers.decide(replace(request, seconds=0.0))
                assert fallen.rung is Rung.BLUEPRINT
                assert fallen.context == context
                context = answer.context
        finally:
            await workers.close()

    run(check())


def test_a_worker_is_awaited_even_if_its_close_is_cancelled() -> None:
    """The event loop may close next: a process that exits later would never be reaped."""

    async def check() -> None:
        worker = WorkerProcess(1, WorkerSpec(FACTORY))
        await worker.start()
        closing = asyncio.ensure_future(worker.close())
        await asyncio.sleep(0)  # it has hung up, the process has not ended yet
        closing.cancel()
        with suppress(asyncio.CancelledError):
            await closing
        assert worker.exit_status is not None

    run(check())
