"""Examples at the end of the help of every command; a test parses them all."""

__all__ = ["EXAMPLES", "examples_of"]

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": (
        "hyperheat demo",
        "hyperheat check src/",
        "hyperheat kg demo",
    ),
    "check": (
        "hyperheat check src/ tests/",
        "hyperheat check --since origin/main --output-format github",
        "hyperheat check --show-all --sort confidence --top 10",
        "hyperheat check --baseline known.json --write-baseline",
        "hyperheat check - --stdin-filename src/shop.py < src/shop.py",
    ),
    "fix": (
        "hyperheat fix src/",
        "hyperheat fix --write src/shop.py",
        "hyperheat fix --interactive --unsafe-fixes --tier B src/",
        "hyperheat fix - < src/shop.py",
    ),
    "explain": (
        "hyperheat explain HH101",
        "hyperheat explain src/shop.py:3:16",
    ),
    "explore": ("hyperheat explore src/",),
    "calibrate": ("hyperheat calibrate src/",),
    "lsp": ("hyperheat lsp --stdio",),
    "demo": ("hyperheat demo",),
    "models": ("hyperheat models",),
    "doctor": (
        "hyperheat doctor",
        "hyperheat doctor src/",
    ),
    "completion": (
        "hyperheat completion bash > ~/.local/share/bash-completion/completions/hyperheat",
        'hyperheat completion zsh > "${fpath[1]}/_hyperheat"',
        "hyperheat completion fish > ~/.config/fish/completions/hyperheat.fish",
    ),
    "graph": (
        "hyperheat graph src/shop.py:total",
        "hyperheat graph src/shop.py:total --format svg --relation CtrlF > total.svg",
    ),
    "reproduce": (
        "hyperheat reproduce table2 --row no-qualifiers --budget 5",
        "hyperheat reproduce table1 --row gnn --seed 1 --set train.lr=1e-3",
        "hyperheat reproduce all --budget 600",
        "hyperheat reproduce page --out docs/results",
    ),
    "bugs": (
        "hyperheat bugs corpus --source src/ --out corpus/",
        "hyperheat bugs train --data corpus/ --out run/ --recipe heat",
    ),
    "bugs corpus": (
        "hyperheat bugs corpus --source src/ --out corpus/",
        "hyperheat bugs corpus --packages names.txt --out corpus/ --workers 2",
    ),
    "bugs mine": (
        "hyperheat bugs mine ~/src/project --out fixes/",
        "hyperheat bugs mine --package click --package jinja2 --out fixes/",
    ),
    "bugs realise": ("hyperheat bugs realise data/released_bugs.jsonl.gz --out released/ --with-clean",),
    "bugs confirm": ("hyperheat bugs confirm --packages names.txt",),
    "bugs train": (
        "hyperheat bugs train --data corpus/ --out run/ --recipe heat",
        "hyperheat bugs train --data corpus/ --out run/ --recipe heat --set model.dim=64 train.max_minutes=30",
    ),
    "bugs average": ("hyperheat bugs average --model run/best other/best --out mean/",),
    "bugs export": ("hyperheat bugs export --model run/best --out detector/",),
    "bugs calibrate": (
        "hyperheat bugs calibrate --model detector/ --data corpus/ --unedited data/unedited_packages.txt --workspace work/",
    ),
    "bugs eval": ("hyperheat bugs eval --model run/best --data corpus/ --split test",),
    "kg": (
        "hyperheat kg import statements.csv --to data/",
        "hyperheat kg train --data data/ --out run/",
    ),
    "kg import": ("hyperheat kg import statements.csv --to data/",),
    "kg train": ("hyperheat kg train --data data/ --out run/",),
    "kg tune": (
        "hyperheat kg tune --data data/ --out search/ --recipe heat --minutes 60",
        "hyperheat kg tune --data data/ --out search/ --minutes 60 --vary train.lr=1e-3,2e-3 model.skip=none,0.1",
    ),
    "kg calibrate": ("hyperheat kg calibrate --model run/best --data data/",),
    "kg complete": ("hyperheat kg complete --model run/best 'Albert Einstein | educated at | ?'",),
    "kg lint": (
        "hyperheat kg lint data/",
        "hyperheat kg lint data/ --output-format sarif --output suspects.sarif",
        "hyperheat kg lint data/ --plant 100",
    ),
    "kg demo": ("hyperheat kg demo",),
    "kg eval": ("hyperheat kg eval --model run/best --data data/",),
}
"""Command lines by command, the first one first to try."""


def examples_of(command: str) -> str:
    """The examples of a command as the end of its help."""
    return "\n".join(["Examples:", *(f"  $ {line}" for line in EXAMPLES[command])])
