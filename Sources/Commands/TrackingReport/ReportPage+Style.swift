// The page's style. Its colours are safe for colour-blind readers; the contrast is at least 3:1 for
// graphics and 4.5:1 for text.

extension ReportPage {
    static let style: HTML = """
        :root {
          --ground: #fff; --panel: #f5f6f8; --line: #d5d9df; --text: #1a1d21; --quiet: #565d66;
          --impressions: #2f6fd0; --clicks: #b55a06; --opens: #12805c; --other: #7a4fc0;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #14171a; --panel: #1e2226; --line: #3a4047; --text: #e8eaed;
            --quiet: #a4abb3; --impressions: #6ea3f5; --clicks: #f09a45; --opens: #45c795;
            --other: #b28cf0;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--ground);
          color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
        }
        h1 { margin: 0; font-size: 1.5rem; }
        h2 { margin: 2rem 0 .25rem; font-size: 1.2rem; }
        h3 { margin: 0 0 .5rem; font-size: 1rem; overflow-wrap: anywhere; }
        p { margin: .25rem 0 .75rem; color: var(--quiet); overflow-wrap: anywhere; }
        small { color: var(--quiet); font-weight: normal; font-size: .85rem; }
        .tiles, .cards { display: grid; gap: .75rem; margin: 1rem 0; }
        .tiles { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); }
        .cards { grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
        .tiles div, article {
          padding: .75rem; background: var(--panel); border: 1px solid var(--line);
          border-radius: .5rem; min-width: 0;
        }
        dt { color: var(--quiet); font-size: .85rem; }
        dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
        .steps { margin: 0; padding: 0; list-style: none; }
        .steps li {
          display: grid; grid-template-columns: 6.5rem 1fr 8rem; gap: .5rem; align-items: center;
          font-size: .9rem;
        }
        .track { height: .8rem; background: var(--line); border-radius: .2rem; overflow: hidden; }
        .track span { display: block; height: 100%; }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .ios { margin: .5rem 0 0; font-size: .85rem; }
        figure { margin: 0; }
        svg {
          display: block; width: 100%; height: 12rem; background: var(--panel);
          border-bottom: 1px solid var(--quiet);
        }
        rect.impressions { fill: var(--impressions); } rect.clicks { fill: var(--clicks); }
        rect.opens { fill: var(--opens); } rect.inapp { fill: var(--other); }
        span.impressions { background: var(--impressions); }
        span.clicks { background: var(--clicks); }
        span.opens { background: var(--opens); }
        span.dismissals, span.errors { background: var(--other); }
        .axis { display: flex; justify-content: space-between; gap: 1rem; margin: .25rem 0;
          font-size: .85rem; }
        .legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0; padding: 0;
          list-style: none; font-size: .85rem; }
        .legend li::before { content: ""; display: inline-block; width: .8em; height: .8em;
          margin-right: .4em; border-radius: .15em; background: var(--other); }
        .legend .impressions::before { background: var(--impressions); }
        .legend .clicks::before { background: var(--clicks); }
        .legend .opens::before { background: var(--opens); }
        summary { cursor: pointer; padding: .25rem 0; }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; }
        .scroll:focus-visible, summary:focus-visible { outline: 3px solid var(--impressions); }
        table { border-collapse: collapse; font-size: .85rem; width: 100%; }
        caption { padding: .5rem; text-align: left; color: var(--quiet); }
        th, td { padding: .35rem .6rem; border-top: 1px solid var(--line); text-align: left; }
        thead th { white-space: nowrap; vertical-align: bottom; }
        tbody th { font-weight: 600; }
        .time { white-space: nowrap; }
        @media print { .scroll { overflow: visible; } }
        """
}
