"""`python -m server.healthcheck [URL]`: exits with 0 if the daemon is ready. For containers without curl."""

from __future__ import annotations

import os
import sys
from urllib.error import URLError
from urllib.request import urlopen

_SECONDS = 2.0


def main(argv: list[str]) -> int:
    """Request /readyz, by default from the local daemon on the port of $FATHOM_SERVER__PORT."""
    port = os.environ.get("FATHOM_SERVER__PORT", "8080")
    url = argv[0] if argv else f"http://127.0.0.1:{port}/readyz"
    if not url.startswith(("http://", "https://")):
        print(f"{url} is not an HTTP URL", file=sys.stderr)  # noqa: T201
        return 2
    try:
        with urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310
            return 0 if answer.status == 200 else 1
    except (URLError, OSError) as error:
        print(f"not ready: {error}", file=sys.stderr)  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
