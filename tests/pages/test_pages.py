"""The pages in a browser: played, reloaded, solved with, looked at; nothing may complain."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from server.config.keys import add_key
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.pages.conftest import ROOT, Tab, daemon
from tests.server.daemon.test_serve import serving

READY = {"/": "#deal", "/pushfold": "#charts .grid13", "/study": "#painter .grid13", "/dashboard": ".tile"}
"""Pages, and what is there when they are."""
DESKTOP, PHONE = (1280, 800), (390, 844)


def settle(page: Any) -> None:
    """Until it is somebody's turn to choose."""
    page.wait_for_selector("#waiting", state="hidden")
    page.wait_for_selector("#act:not([hidden]), #between:not([hidden])")


def deal(page: Any) -> None:
    page.click("#deal")
    settle(page)


def press(page: Any, key: str) -> None:
    page.keyboard.press(key)
    settle(page)


def number(text: str) -> int:
    return int(re.sub(r"[^\d−-]", "", text).replace("−", "-"))


def test_hands_are_played_to_the_end_by_keyboard(tab: Tab) -> None:
    page = tab.open("/")
    deal(page)
    streets = 0
    while page.is_visible("#act"):
        press(page, "c")
        streets += 1
        assert streets < 12
    assert "River" in page.inner_text("#log")
    assert page.locator("#board .card:not(.empty)").count() == 5
    assert page.locator("#bot-cards .card.back").count() == 0, "shown down"
    assert page.inner_text("#result")
    assert re.search(r"1 hand\b", page.inner_text("#score-detail"))
    assert page.locator("#spark svg").count() == 1
    assert page.inner_text("#result") in page.inner_text("#live"), "announced"
    tab.shot("play-showdown")


def test_a_hand_is_won_by_an_all_in_and_lost_by_a_fold(tab: Tab) -> None:
    page = tab.open("/")
    deal(page)
    press(page, "a")
    assert page.is_visible("#between")
    assert page.inner_text("#result").startswith("Fathom folds. You win")
    assert page.locator("#bot-cards .card.back").count() == 2, "it does not show what it folded"
    won = number(page.inner_text("#score-detail").split(" chips")[0])
    assert won > 0
    for _ in range(4):  # folding is possible on the button at once, in the big blind never here
        page.keyboard.press("n")
        settle(page)
        if page.is_enabled("#fold"):
            press(page, "f")
            assert page.inner_text("#result").startswith("You fold")
            break
        while page.is_visible("#act"):
            press(page, "c")
    else:
        pytest.fail("never on the button")


def test_sizes_by_button_key_slider_and_text(tab: Tab) -> None:
    page = tab.open("/")
    deal(page)
    before = number(page.inner_text("#raise"))
    page.keyboard.press("4")
    pot = number(page.inner_text("#raise"))
    assert pot == 300, "the pot after a call is 200"
    assert page.get_attribute("#fractions button:nth-child(4)", "aria-pressed") == "true"
    assert before != pot
    page.click("#fractions button:nth-child(2)")
    assert number(page.inner_text("#raise")) == 200
    page.fill("#amount", "777")
    page.press("#amount", "Tab")
    assert number(page.inner_text("#raise")) == 777
    page.focus("#slider")
    page.keyboard.press("End")
    assert page.inner_text("#raise").startswith("All-in")
    page.keyboard.press("Home")
    assert number(page.inner_text("#raise")) == 200, "no less than the rules allow"
    page.fill("#amount", "450")
    page.press("#amount", "Enter")
    settle(page)
    assert "raise to 450" in page.inner_text("#log")


def test_a_reload_in_the_middle_goes_on(tab: Tab) -> None:
    page = tab.open("/")
    deal(page)
    press(page, "c")
    cards = [card.get_attribute("data-card") for card in page.locator("#you-cards .card").all()]
    board = [card.get_attribute("data-card") for card in page.locator("#board .card").all()]
    log = page.inner_text("#log")
    page.reload()
    page.wait_for_selector("#act:not([hidden])")
    assert [card.get_attribute("data-card") for card in page.locator("#you-cards .card").all()] == cards
    assert [card.get_attribute("data-card") for card in page.locator("#board .card").all()] == board
    assert page.inner_text("#log") == log
    while page.is_visible("#act"):
        press(page, "c")
    assert page.inner_text("#result")


def test_a_hand_is_replayed_and_thoughts_are_shown(tab: Tab) -> None:
    page = tab.open("/")
    deal(page)
    while page.is_visible("#act"):
        press(page, "c")
    page.click("#think")
    page.wait_for_selector("#thought .grid13")
    assert page.locator("#thought-tabs button").count() == 4, "a decision a street"
    assert page.locator("#thought .grid13").count() == 3
    assert "0.40 % of the pot" in page.inner_text("#thought")
    assert page.locator("#thought .warning").count() == 0, "it is solved"
    page.click("#thought-tabs button >> nth=2")
    assert "not converged" in page.inner_text("#thought .warning")
    assert "8.4 % of the pot" in page.inner_text("#thought .warning")
    tab.shot("play-thoughts-not-converged")
    page.click("#thought-tabs button >> nth=1")
    assert "no time to solve" in page.inner_text("#thought .warning")
    page.focus("#thought .grid13 >> nth=0")
    page.keyboard.press("ArrowRight")
    assert "%" in page.inner_text("#thought .grid-caption >> nth=0")
    tab.shot("play-thoughts")
    page.click("#thoughts-close")
    page.click("#history button")
    assert page.inner_text("#replay-text").startswith("Hand 1, step 1 of")
    assert page.locator("#board .card:not(.empty)").count() == 0
    assert page.locator("#bot-cards .card.back").count() == 2, "not before its time"
    while page.is_enabled("#step-on"):
        page.click("#step-on")
    assert page.locator("#board .card:not(.empty)").count() == 5
    assert page.is_visible("#result")
    page.keyboard.press("Escape")
    assert page.is_visible("#deal")


def test_push_or_fold(browser: Any, tmp_path: Path) -> None:
    with daemon(tmp_path, "auto") as address:  # which counts the decisions of everybody
        opened = Tab(browser, address)
        page = opened.open("/pushfold")
        page.wait_for_selector("#charts .grid13")
        assert page.locator("#charts .grid13").count() == 2
        decided = 0
        for at in range(12):
            page.click("#deal")
            page.wait_for_selector("#act:not([hidden]), #between:not([hidden])")
            if page.is_visible("#act"):
                page.keyboard.press("fa"[at % 2])
                decided += 1
            page.wait_for_selector("#between:not([hidden])")
        assert page.inner_text("#score-detail").startswith("12 hands")
        assert f"{decided} decisions" in page.inner_text("#accuracy-detail")
        page.wait_for_selector(f"#pool >> text={decided} decisions made here")
        opened.shot("pushfold-played")
        opened.close()


def test_a_spot_is_painted_solved_walked_and_linked(tab: Tab) -> None:
    page = tab.open("/study")
    page.fill("#range", "QQ+,AKs")
    page.press("#range", "Tab")
    assert page.locator("#painter [aria-selected=true]").count() == 4
    page.click("#painter [role=gridcell] >> text=/^JJ$/")
    assert page.input_value("#range") == "JJ+,AKs"
    page.keyboard.press("Tab")
    page.click("#show-ip")
    page.fill("#range", "TT+,AQs+")
    page.press("#range", "Tab")
    page.click("#solve")
    page.wait_for_selector("#solution:not([hidden])")
    assert page.locator("#grids .grid13").count() == 2
    assert page.inner_text("#node-text").startswith("Out of position to act, pot 1,000")
    page.click("#actions button >> nth=0")
    page.wait_for_selector("#path button >> nth=1")
    assert page.inner_text("#node-text").startswith("In position to act")
    tab.shot("study-walked")
    address = page.url
    assert "node=x" in address
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#solution:not([hidden])")
    assert page.inner_text("#node-text").startswith("In position to act")
    assert page.input_value("#range") == "JJ+,AKs"


def test_a_spot_that_did_not_converge_says_so(tab: Tab) -> None:
    page, limits = tab.page, {"iterations": 1}
    page.route(
        "**/v1/solve",
        lambda route: route.continue_(post_data=json.dumps({**route.request.post_data_json, **limits})),
    )
    tab.open("/study")
    page.click("#solve")
    page.wait_for_selector("#doubt:not([hidden])")
    assert page.inner_text("#doubt").startswith("Not converged. The solution is exploitable for")
    tab.shot("study-not-converged")
    limits["iterations"] = 40
    page.click("#solve")
    page.wait_for_selector("#doubt:not([hidden]) >> text=Stopped before its target.")
    limits["iterations"] = 10_000
    page.click("#solve")
    page.wait_for_selector("#progress-text:has-text('iterations, ')")
    assert page.is_hidden("#doubt")


def test_a_turn_spot_goes_on_to_the_river(tab: Tab) -> None:
    page = tab.open("/study?board=AsKd7h4c&pot=1000&stack=2000&menu=a&oop=QQ,AQs&ip=JJ,AJs")
    page.wait_for_selector("#solution:not([hidden])")
    page.click("#actions button >> text=check")
    page.wait_for_selector("#node-text >> text=In position to act")
    page.click("#actions button >> text=check")
    page.wait_for_selector("#node-text >> text=Which card comes?")
    assert page.locator(".deck-card:disabled").count() == 4, "what is on the board"
    page.click("[aria-label='two of clubs']")
    page.wait_for_selector("#node-text >> text=Out of position to act")
    assert page.locator("#path button").all_inner_texts() == ["Root", "check", "check", "2c"]
    page.click("#actions button >> text=all-in")
    page.wait_for_selector("#node-text >> text=In position to act")
    page.click("#actions button >> text=fold")
    page.wait_for_selector("#progress-text >> text=the hand is over")
    assert page.locator("#path button").count() == 5, "still where it was"
    page.click("#path button >> nth=0")
    page.wait_for_selector("#path button:only-of-type")


def test_a_spot_that_cannot_be_solved_says_why(tab: Tab) -> None:
    page = tab.open("/study")
    page.fill("#board", "AsAs2c")
    page.click("#solve")
    page.wait_for_selector("#error:not([hidden])")
    assert page.inner_text("#error")
    # The browser itself reports the refused request; nothing else may.
    assert all("422" in text or "400" in text for text in tab.complaints)
    tab.complaints.clear()


def test_the_dashboard_follows_the_daemon(tab: Tab) -> None:
    page = tab.open("/dashboard")
    page.wait_for_selector(".tile")
    page.wait_for_selector("#state.good")
    assert page.locator(".tile").count() == 6
    tab.shot("dashboard-live")


def test_where_keys_are_needed_the_page_asks_for_one(browser: Any, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.json", "player", ["play"])
    with daemon(tmp_path, "always") as address:
        opened = Tab(browser, address)
        page = opened.open("/")
        page.click("#deal")
        page.wait_for_selector("dialog[open]")
        page.fill("#key-input", "fathom_wrong")
        page.click("dialog .primary")
        page.fill("#key-input", key)
        page.click("dialog .primary")
        page.wait_for_selector("#act:not([hidden]), #result:not([hidden])")
        page.reload()
        page.wait_for_selector("#act:not([hidden]), #deal")
        assert page.locator("dialog").count() == 0, "the key is remembered"
        # The browser itself reports refused requests; nothing else may be reported.
        assert all("401" in text for text in opened.complaints)
        opened.complaints.clear()
        opened.close()


def test_the_theme_is_chosen_and_kept(browser: Any, address: str) -> None:
    opened = Tab(browser, address, color_scheme="dark")
    page = opened.open("/")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert light != dark
    page.reload()
    assert page.evaluate(background) == light
    opened.close()


@pytest.mark.parametrize("path", READY)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_fit_and_are_accessible(
    browser: Any, address: str, path: str, scheme: str, size: tuple[int, int]
) -> None:
    opened = Tab(browser, address, size=size, color_scheme=scheme)
    page = opened.open(path)
    page.wait_for_selector(READY[path])
    name = path.strip("/") or "play"
    opened.shot(f"{name}-{'desktop' if size == DESKTOP else 'phone'}-{scheme}")
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0, "nothing sticks out to the side"
    verify_accessible(page)
    opened.close()


def verify_accessible(page: Any) -> None:
    """Nothing serious is found in what is shown now."""
    script = axe()
    if script is None:
        pytest.skip("fits; needs axe-core to check more: npm install axe-core, named in FATHOM_AXE")
    # By the debugger's way in: the page's own policy forbids scripts from elsewhere.
    page.evaluate(script)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations)")
    serious = [
        (item["id"], [node["html"][:120] for node in item["nodes"][:3]])
        for item in found
        if item["impact"] in ("serious", "critical")
    ]
    assert serious == []


def look(opened: Tab, name: str) -> None:
    """Take pictures of what is shown now and check it, light and dark, and that nothing sticks out."""
    page = opened.page
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        opened.shot(f"{name}-{scheme}")
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, "nothing sticks out to the side"
        verify_accessible(page)


@pytest.fixture(params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def sized(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[tuple[Tab, str]]:
    """A page, large or small, and what to call its pictures."""
    opened = Tab(browser, address, size=request.param)
    yield opened, "desktop" if request.param == DESKTOP else "phone"
    opened.close()


def start_thinking(page: Any) -> None:
    """Have Fathom think for a minute about a new hand."""
    page.select_option("#budget", "30")
    page.click("#deal")
    page.wait_for_selector("#act:not([hidden]), #waiting:not([hidden]):has-text('before the flop')")
    if page.is_visible("#act"):
        page.keyboard.press("c")
        page.wait_for_selector("#waiting:not([hidden]) >> text=before the flop")


def test_a_hand_is_accessible_all_along(sized: tuple[Tab, str]) -> None:
    opened, size = sized
    page = opened.open("/")
    deal(page)
    look(opened, f"play-turn-{size}")
    while page.is_visible("#act"):
        press(page, "c")
    page.click("#think")
    page.wait_for_selector("#thought .grid13")
    page.click("#thought-tabs button >> nth=2")
    page.wait_for_selector("#thought .warning")
    look(opened, f"play-thoughts-{size}")
    start_thinking(page)
    look(opened, f"play-thinking-{size}")


def test_a_solved_spot_is_accessible(sized: tuple[Tab, str]) -> None:
    opened, size = sized
    page = opened.open(
        "/study?board=AsKd7h4c2s&pot=1000&stack=2000&menu=50%25,a&oop=QQ,AQs,JTs&ip=JJ,AJs,KQs"
    )
    page.wait_for_selector("#solution:not([hidden])")
    page.wait_for_selector("#stop", state="hidden")
    look(opened, f"study-solved-{size}")


def test_push_or_fold_is_accessible_after_some_hands(sized: tuple[Tab, str]) -> None:
    opened, size = sized
    page = opened.open("/pushfold")
    page.wait_for_selector("#charts .grid13")
    for at in range(8):
        page.click("#deal")
        page.wait_for_selector("#act:not([hidden]), #between:not([hidden])")
        if page.is_visible("#act"):
            page.keyboard.press("fa"[at % 2])
        page.wait_for_selector("#between:not([hidden])")
    page.wait_for_selector("#pool >> text=decisions made here")
    look(opened, f"pushfold-played-{size}")


def boxes(page: Any) -> Any:
    """Where everything is that must not move while Fathom thinks."""
    return page.evaluate(
        """["felt", "actions", "seat-bot", "board", "seat-you", "bot-stack", "you-stack"].map((id) => {
            const { x, y, width, height } = document.getElementById(id).getBoundingClientRect();
            return [id, ...[x, y, width, height].map(Math.round)];
        })"""
    )


def test_nothing_jumps_when_it_thinks(sized: tuple[Tab, str]) -> None:
    opened, _ = sized
    page = opened.open("/")
    page.wait_for_selector("#deal")
    page.select_option("#budget", "30")
    before = boxes(page)
    page.click("#deal")
    page.wait_for_selector("#act:not([hidden]), #waiting:not([hidden]):has-text('before the flop')")
    assert boxes(page) == before
    if page.is_visible("#act"):
        page.keyboard.press("c")
        page.wait_for_selector("#waiting:not([hidden]) >> text=before the flop")
        assert boxes(page) == before
        assert "call 50" in page.inner_text("#log"), "what you did is seen at once"
    bar = page.locator("#thinking-bar")
    assert bar.get_attribute("role") == "progressbar"
    page.wait_for_selector("#thinking-far >> text=/iterations, [\\d.]+ of [\\d.]+ s/")
    page.wait_for_selector("#live >> text=Fathom is thinking before the flop.", state="attached")
    page.wait_for_selector("#thinking-bar[aria-valuenow='100']")
    assert page.inner_text("#live") == "Fathom is thinking before the flop.", "told once, not at every step"


def test_a_reload_while_it_thinks_shows_that_it_does(tab: Tab) -> None:
    page = tab.open("/")
    page.select_option("#budget", "30")
    for _ in range(20):
        page.click("#deal")
        page.wait_for_selector("#act:not([hidden]), #waiting:not([hidden]):has-text('before the flop')")
        if page.is_visible("#act"):
            break
        page.evaluate("localStorage.removeItem('fathom.session')")  # only a hand that is known goes on
        page.reload()
    page.keyboard.press("c")
    page.wait_for_selector("#waiting:not([hidden]) >> text=before the flop")
    page.reload()
    page.wait_for_selector("#waiting:not([hidden]) >> text=before the flop")
    assert page.locator("#you-cards .card:not(.back):not(.empty)").count() == 2


def test_iterations_grow_while_workers_solve(browser: Any, tmp_path: Path) -> None:
    """The whole way: an agent in a worker, shared memory, events, the page."""
    blueprint = made_up_blueprint(tmp_path, WIDE).path
    words = (
        "--blueprint",
        str(blueprint),
        "--workers",
        "1",
        "--set",
        f"store.path={tmp_path / 'hands.sqlite'}",
    )
    with serving(*words) as fathom:
        fathom.wait_until_ready()
        opened = Tab(browser, f"http://127.0.0.1:{fathom.port}")
        page = opened.open("/")
        page.select_option("#budget", "10")
        page.evaluate(
            """() => {
                window.told = [];
                const take = () => {
                    const text = document.getElementById("waiting").innerText;
                    const found = text.match(/about the (flop|turn|river)\\s+([\\d,]+) iterations?/);
                    if (found) told.push([found[1], Number(found[2].replace(",", ""))]);
                };
                new MutationObserver(take).observe(document.getElementById("waiting"), {
                    subtree: true, childList: true, characterData: true,
                });
            }"""
        )
        grown: list[int] = []
        for _ in range(40):
            deal(page)
            while page.is_visible("#act") and len(grown) < 3:
                press(page, "c")
                told = page.evaluate("told.splice(0)")
                for street in ("flop", "turn", "river"):
                    grown = max(grown, sorted({done for at, done in told if at == street}), key=len)
            if len(grown) >= 3:
                break
            while page.is_visible("#act"):
                press(page, "f" if page.is_enabled("#fold") else "c")
        assert len(grown) >= 3, "seen again and again, each time further"
        opened.close()


@cache
def axe() -> str | None:
    """The source of axe-core: named, or fetched once into the cache; None if it cannot be had."""
    named = os.environ.get("FATHOM_AXE")
    # A folder for each process that tests: two would write over each other.
    folder = ROOT / ".pytest_cache" / f"axe-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    path = Path(named) if named else folder / "node_modules" / "axe-core" / "axe.min.js"
    if not path.exists() and not named and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(json.dumps({"private": True}), encoding="ascii")
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--fetch-retries=0", "axe-core@4"]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=60)
    return path.read_text(encoding="utf-8") if path.exists() else None
