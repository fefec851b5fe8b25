"""A standalone ACPC program that always checks or calls. Run as COMMAND HOST PORT.

Options before HOST: `log=FILE` logs every line received, `die=N` exits in hand N, `once=FILE` exits only if
FILE does not exist, `mute=N` stops answering in hand N, `version=TEXT` sends another first line.
"""

import re
import socket
import sys
import time
from pathlib import Path


def is_asked(line: str) -> bool:
    """Whether it is our turn, in heads-up hold'em with reverse blinds."""
    _, position, _, betting, cards = line.split(":")
    hands = cards.split("/")[0].split("|")
    rounds = betting.split("/")
    acted = len(re.findall(r"c|r\d+", rounds[-1]))
    first = 1 if len(rounds) == 1 else 0
    return "f" not in betting and "" in hands and (first + acted) % 2 == int(position)


def main() -> None:
    options = dict(word.split("=", 1) for word in sys.argv[1:-2])
    with socket.create_connection((sys.argv[-2], int(sys.argv[-1]))) as connection:
        connection.sendall(options.get("version", "VERSION:2.0.0").encode() + b"\r\n")
        for text in connection.makefile("r", newline="\r\n"):
            line = text.strip()
            if "log" in options:
                with Path(options["log"]).open("a", encoding="utf-8") as log:
                    log.write(line + "\n")
            if not is_asked(line):
                continue
            hand = line.split(":")[2]
            once = Path(options["once"]) if "once" in options else None
            if hand == options.get("die") and not (once and once.exists()):
                if once:
                    once.touch()
                sys.exit("out of luck")
            if hand == options.get("mute"):
                time.sleep(60)
            connection.sendall(f"# thinking\r\n{line}:c\r\n".encode())


if __name__ == "__main__":
    main()
