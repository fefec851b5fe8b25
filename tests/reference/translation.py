"""Translation written out with fractions, and the hash of draws with plain integers."""

from __future__ import annotations

from fractions import Fraction


def pseudo_harmonic(x: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Ganzfried and Sandholm (2013), section 4: the probability of the lower size."""
    return (high - x) * (1 + low) / ((high - low) * (1 + x))


def fraction(total: int, faced: int) -> Fraction:
    return Fraction(total - faced, 2 * faced)


def real_total(total: int, stack: int, own_faced: int, faced: int, least: int, most: int) -> int:
    if total == stack:
        return most
    exact = faced + fraction(total, own_faced) * 2 * faced
    rounded = int(exact + Fraction(1, 2))
    return sorted((least, rounded, most))[1]


def abstract_raise(
    sizes: list[int], stack: int, own_faced: int, total: int, faced: int, least: int, most: int, draw: float
) -> int:
    """Which of the raise-to totals a node offers stands for a real one; sizes ascending, not empty."""
    if total == most and sizes[-1] == stack:
        return stack
    x = fraction(total, faced)
    same = [s for s in sizes if real_total(s, stack, own_faced, faced, least, most) == total]
    if same:
        return min(same, key=lambda s: abs(fraction(s, own_faced) - x))
    lower = [s for s in sizes if fraction(s, own_faced) < x]
    upper = [s for s in sizes if fraction(s, own_faced) >= x]
    if not lower or not upper:
        return (lower or upper)[-1 if lower else 0]
    low, high = lower[-1], upper[0]
    return low if draw < pseudo_harmonic(x, fraction(low, own_faced), fraction(high, own_faced)) else high


def style_weights(
    bias: dict[str, int], threshold: float, purify: float | None, names: list[str], weights: list[int]
) -> list[Fraction]:
    """Probabilities after bias, threshold and purification; names are fold, call and raise."""
    biased = [Fraction(w * bias.get(name, 1)) for w, name in zip(weights, names, strict=True)]
    shares = [w / sum(biased) for w in biased]
    limit = Fraction(round(1000 * threshold), 1000)
    kept = [
        s if s >= limit or (s == max(shares) and shares.index(s) == i) else Fraction(0)
        for i, s in enumerate(shares)
    ]
    shares = [s / sum(kept) for s in kept]
    if purify is None:
        return shares
    groups = {
        name: sum((s for s, n in zip(shares, names, strict=True) if n == name), Fraction(0)) for name in names
    }
    chosen = max(groups, key=lambda name: (groups[name], -["fold", "call", "raise"].index(name)))
    if groups.get("fold", Fraction(0)) > Fraction(round(1000 * purify), 1000):
        chosen = "fold"
    members = [i for i, name in enumerate(names) if name == chosen]
    best = max(members, key=lambda i: (shares[i], -i))
    return [Fraction(i == best) for i in range(len(names))]


def hash32(seed: int, key: int) -> int:
    def mix(x: int) -> int:
        x = ((x ^ x >> 16) * 0x7FEB352D) % 2**32
        x = ((x ^ x >> 15) * 0x846CA68B) % 2**32
        return x ^ x >> 16

    return mix(mix(mix(key) ^ seed % 2**32) ^ seed >> 32)
