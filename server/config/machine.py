"""The machine's usable cores and available memory."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """The number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory_bytes(meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int | None:
    """Memory available without swapping, within a container's limit; None if unknown."""
    known = [found for found in (_from_meminfo(meminfo), _from_cgroup(cgroup)) if found is not None]
    return min(known) if known else None


def _from_meminfo(path: Path) -> int | None:
    try:
        for line in path.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _from_cgroup(folder: Path) -> int | None:
    try:
        limit = int((folder / "memory.max").read_text(encoding="ascii"))
        used = int((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max", which means no limit
        return None
    return max(limit - used + _cached_files(folder), 0)


def _cached_files(folder: Path) -> int:
    """Bytes in a container's page cache, which the kernel reclaims on demand."""
    try:
        lines = [line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines()]
        return sum(int(line[1]) for line in lines if line[0] in ("active_file", "inactive_file"))
    except (OSError, ValueError, IndexError):
        return 0
