"""The style sheet of the HTML report, light and dark, in ASCII."""

__all__ = ["STYLE"]

_SHADES = "".join(
    f".h{level} {{ background: rgb(213 94 0 / {level * 8}%); }}\n" for level in range(1, 10)
)  # one hue that colour-blind readers tell from the page; the numbers stand beside it

STYLE = (
    """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b2430; --faint: #566373; --panel: #f4f6f8; --rule: #d3dae1;
  --A: #b3261e; --B: #8a5a00; --C: #1f5fa8; --added: #1a6b34; --addedpage: #e4f4e8; --found: #fbe3e1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12171d; --text: #e4e9ee; --faint: #a3b0bd; --panel: #1b222a; --rule: #36414c;
    --A: #ff8a80; --B: #f2b84b; --C: #8ab8f2; --added: #7fd69a; --addedpage: #16301e; --found: #4a1f1d;
  }
}
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 66rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
p, dl, ul { margin: 0.3rem 0; }
a { color: inherit; }
a:focus-visible, summary:focus-visible, .code:focus-visible { outline: 2px solid var(--C); outline-offset: 2px; }
.faint { color: var(--faint); overflow-wrap: anywhere; }
.counts { display: flex; flex-wrap: wrap; gap: 0.3rem 1.6rem; margin-top: 0.8rem; }
.counts div { display: flex; gap: 0.4rem; }
.counts dt { color: var(--faint); }
.counts dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th { color: var(--faint); font-weight: normal; }
td { overflow-wrap: anywhere; }
td.short { white-space: nowrap; font-variant-numeric: tabular-nums; }
article, details { margin: 1rem 0; padding: 0.9rem 1rem; border: 1px solid var(--rule); border-radius: 6px; }
article { border-left-width: 5px; }
.tierA { border-left-color: var(--A); }
.tierB { border-left-color: var(--B); }
.tierC { border-left-color: var(--C); }
summary { cursor: pointer; overflow-wrap: anywhere; }
.code {
  margin: 0.7rem 0 0.3rem; padding: 0.5rem 0; overflow-x: auto; background: var(--panel); border-radius: 4px;
  font: 0.875rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; tab-size: 4;
}
.line { display: flex; width: max-content; min-width: 100%; }
.number { flex: none; width: 3.5rem; padding-right: 0.8rem; color: var(--faint); text-align: right; user-select: none; }
.peak { flex: none; width: 2.5rem; padding-right: 0.8rem; color: var(--faint); user-select: none; }
.line code { font: inherit; white-space: pre; direction: ltr; unicode-bidi: isolate; }
.line mark { background: var(--found); color: inherit; border-bottom: 2px solid var(--A); }
.added { background: var(--addedpage); }
.added .number { color: var(--added); }
.added ins { color: var(--added); font-weight: bold; text-decoration: none; }
@media print { body { max-width: none; } .code { overflow: visible; } .line code { white-space: pre-wrap; } }
"""
    + _SHADES
)
