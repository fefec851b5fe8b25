"""The daemon's configuration: its sources and its error messages."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from server.cli import main
from server.config.config import Config, MatchConfig, load_config
from server.config.reader import ConfigError, config_text


def written(folder: Path, text: str) -> Path:
    path = folder / "fathom.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_defaults_listen_on_loopback_with_four_workers() -> None:
    config = load_config(environment={})
    assert config == Config()
    assert config.server.host == "127.0.0.1"
    assert config.workers.count == 4
    assert config.agent.budget == 7.0
    with pytest.raises(FrozenInstanceError):
        config.server.port = 1  # type: ignore[misc]


def test_flags_override_the_environment_which_overrides_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "[workers]\ncount = 1\nqueue = 5\nthreads = 3\n[agent]\nbudget = 2\n")
    environment = {"FATHOM_WORKERS__QUEUE": "6", "FATHOM_WORKERS__THREADS": "2", "FATHOM_BLUEPRINT": "x"}
    config = load_config(path, {"workers.threads": "1"}, environment)
    assert (config.workers.count, config.workers.queue, config.workers.threads) == (1, 6, 1)
    assert config.agent.budget == 2.0


def test_matches_are_read_from_tables(tmp_path: Path) -> None:
    path = written(tmp_path, '[[match]]\nhost = "a"\nport = 1\n[[match]]\nhost = "b"\nport = 2\nhands = 7\n')
    config = load_config(path, environment={})
    assert config.match == (MatchConfig("a", 1), MatchConfig("b", 2, hands=7))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sever]\nport = 1", ["unknown section [sever]", "[server]", "[workers]"]),
        ("[server]\nprot = 1", ["[server] has no key 'prot'", "host, port"]),
        ('[server]\nport = "80"', ["server.port = '80'", "a whole number from 0 to 65535"]),
        ("[server]\nport = 70000", ["server.port = 70000", "from 0 to 65535"]),
        ("[server]\nport = true", ["server.port = True", "a whole number"]),
        ("[server]\nhost = 5", ["server.host = 5", "a text in quotes"]),
        ("[agent]\nbudget = nan", ["agent.budget", "a number from 0.01"]),
        ("[workers]\nmemory_mb = -1", ["workers.memory_mb = -1", "at least 0"]),
        ('[log]\nformat = "xml"', ["log.format = 'xml'", '"human", "json"']),
        ("[log]\nformat = ['human']", ["log.format", '"human", "json"']),
        ("server = 5", ["server is a section", "[server]"]),
        ("[match]\nport = 5", ["[[match]]"]),
        ('[[match]]\nhost = "a"', ["[match 1] needs port"]),
        ("[[match]]\nhost = 'a'\nport = 0", ["match 1.port = 0", "from 1 to 65535"]),
        ("[workers]\nlate_seconds = 9\nhang_seconds = 1", ["hang_seconds", "late_seconds"]),
        ("not toml", ["is not valid TOML"]),
    ],
)
def test_errors_name_the_key_and_what_is_allowed(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, text), environment={})
    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"FATHOM_SERVER__PORT": "many"}, ["FATHOM_SERVER__PORT", "a whole number"]),
        ({"FATHOM_SERVER__PROT": "1"}, ["FATHOM_SERVER__PROT", "no key 'prot'"]),
        ({"FATHOM_NOWHERE__PORT": "1"}, ["FATHOM_NOWHERE__PORT", "unknown section 'nowhere'"]),
        ({"FATHOM_MATCH__PORT": "1"}, ["FATHOM_MATCH__PORT", "can only be given in the configuration file"]),
    ],
)
def test_errors_name_bad_environment_variables(environment: dict[str, str], words: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(environment=environment)
    for word in words:
        assert word in str(refused.value)


def test_what_show_prints_can_be_read_again(tmp_path: Path) -> None:
    flags = {"server.host": 'odd "name" \\ here', "log.format": "json", "workers.late_seconds": "0.25"}
    first = load_config(written(tmp_path, '[[match]]\nhost = "h"\nport = 9\n'), flags, {})
    again = load_config(written(tmp_path, config_text(first)), environment={})
    assert again == first


def test_show_prints_the_keys_of_matches_too(tmp_path: Path) -> None:
    shown = config_text(load_config(environment={}))
    assert "# [[match]]\n# host = …  # the dealer's host name or address (required)\n" in shown
    assert '# game = "hunl"  # a preset' in shown
    assert load_config(written(tmp_path, shown), environment={}) == load_config(environment={})


def test_check_rejects_a_match_with_an_unknown_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, '[[match]]\nhost = "h"\nport = 9\ngame = "chess"\n')
    assert main(["config", "check", "--config", str(path)]) == 2
    assert "'chess' is neither a file nor" in capsys.readouterr().err


def test_the_command_shows_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "[workers]\ncount = 2\n")
    assert main(["config", "check", "--config", str(path)]) == 0
    assert "valid" in capsys.readouterr().out
    assert main(["config", "show", "--config", str(path), "--port", "9", "--set", "log.level=debug"]) == 0
    shown = capsys.readouterr().out
    assert "count = 2  # worker processes (default: 4)" in shown
    assert "port = 9 " in shown
    assert 'level = "debug"' in shown


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--config", "/nowhere/at/all.toml"], "--config /nowhere/at/all.toml: no such file"),
        (["--set", "workers.count"], "SECTION.KEY=VALUE"),
        (["--config", "/"], "--config /: is a folder"),
        (["--set", "workers.count=none"], "--set workers.count=none: write a whole number from 1"),
        (["--workers", "0"], "--workers 0: write a whole number from 1"),
        (["--port", "99999"], "--port 99999: write a whole number from 0 to 65535"),
        (["--blueprint", "/nowhere"], "blueprint /nowhere: there is no such file"),
        (["--host", "0.0.0.0", "--set", "security.keys_file=/nowhere"], "there are no keys in /nowhere"),
        (["--set", "store.path=/dev/null/x"], "store.path = '/dev/null/x': /dev/null is not a folder"),
    ],
)
def test_the_command_reports_errors_in_one_line(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "check", *words]) == 2
    err = capsys.readouterr().err
    assert complaint in err
    assert err.count("\n") == 1
