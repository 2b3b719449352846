"""The stylesheet of a page: light or dark as its reader has it, printable, wide tables that scroll."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --ink: #1f2328; --quiet: #59636e; --rule: #d1d9e0; --band: #f6f8fa; --link: #0b57d0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12161b; --ink: #e6e8eb; --quiet: #a3adb8; --rule: #39424d; --band: #1a2028; --link: #8ab4f8;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.75rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 2.5rem; padding-top: .75rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
a { color: var(--link); }
nav ol { columns: 18rem; column-gap: 2.5rem; padding-left: 1.75rem; }
.scroll, ul { overflow: auto; max-height: 85vh; margin: .75rem 0; }
.scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.35; }
table { font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th { position: sticky; top: 0; background: var(--ground); white-space: nowrap; color: var(--quiet); }
td { max-width: 26rem; }
tbody tr:nth-child(even) { background: var(--band); }
code { font: .85em/1.3 ui-monospace, monospace; }
td code { display: inline-block; width: 32ch; word-break: break-all; }
.chart { display: block; overflow-x: auto; margin: 1rem 0; }
.chart svg { display: block; max-width: 100%; min-width: 32rem; height: auto; color: inherit; }
@media screen and (max-width: 45rem) {
  table { width: max-content; }
  td { max-width: 14rem; }
}
@media print {
  :root { color-scheme: light; --ground: #ffffff; --ink: #000000; --quiet: #333333; --band: #ffffff; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  h2, h3 { break-after: avoid; }
  tr, .chart { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll, ul, .chart { overflow: visible; max-height: none; }
  table { font-size: 7.5pt; }
  th { position: static; white-space: normal; }
}
"""
