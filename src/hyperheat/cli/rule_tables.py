"""Tables that `hyperheat check` prints in place of findings: how many there are of each rule, and the rules themselves."""

from collections import Counter

from hyperheat.report import LEVELS, RULES, Report
from hyperheat.visible_text import dump_json

__all__ = ["render_rules", "render_statistics"]


def render_statistics(report: Report, *, as_json: bool) -> str:
    """How many findings each rule has in each tier, and how many files were not checked, most frequent first."""
    found = Counter((finding.rule, finding.tier) for finding in report.findings)
    totals = Counter(finding.rule for finding in report.findings) + Counter(e.rule for e in report.errors)
    rules = sorted(totals, key=lambda rule: (-totals[rule], rule))
    if as_json:
        rows = [
            {
                "rule": rule,
                "name": RULES[rule].name,
                "count": totals[rule],
                "tiers": {tier: found[rule, tier] for tier in LEVELS} if RULES[rule].kinds else None,
            }
            for rule in rules
        ]
        return f"{dump_json(rows, indent=2)}\n"
    lines = []
    for rule in rules:
        tiers = ", ".join(f"{found[rule, tier]} in tier {tier}" for tier in LEVELS if found[rule, tier])
        lines.append(f"{totals[rule]:>6}  {rule}  {RULES[rule].name:<18} {tiers}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def render_rules(*, as_json: bool) -> str:
    """All rules: id, name and what is wrong."""
    if as_json:
        rows = [
            {"rule": rule.id, "name": rule.name, "summary": rule.summary, "kinds": list(rule.kinds)}
            for rule in RULES.values()
        ]
        return f"{dump_json(rows, indent=2)}\n"
    return "".join(f"{rule.id}  {rule.name:<18} {rule.summary}\n" for rule in RULES.values())
