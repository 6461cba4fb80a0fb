// The page: asks for stats.json once a second, and shows what it says. Text is only ever set as
// text, so nothing that a client sent can become markup.

const $ = (id) => document.getElementById(id);
const numbers = new Intl.NumberFormat('en');
const rounded = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = (time) => new Date(time * 1000).toLocaleTimeString('en-GB');
const perSecond = (value) => (value >= 100 ? numbers.format(Math.round(value)) : rounded.format(value));
const axis = (value) => (value >= 1000 ? compact.format(value) : rounded.format(value));

const scaled = (value, base, units, first) => {
  let place = 0;
  let scaledValue = value * first;
  while (scaledValue >= base && place < units.length - 1) { scaledValue /= base; place += 1; }
  const digits = scaledValue >= 100 || scaledValue === 0 ? 0 : scaledValue >= 10 ? 1 : 2;
  return [Number(scaledValue.toFixed(digits)).toString(), units[place]];
};
const bytes = (value) => scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1);
const seconds = (value) => (value === 0 ? ['0', 's'] : value < 1 ? scaled(value, 1000, ['µs', 'ms', 's'], 1e6) : [rounded.format(value), 's']);
const text = (pair) => pair.join(' ');
const duration = (value) => {
  if (value < 60) return `${Math.floor(value)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min`;
  if (value < 86400) return `${Math.floor(value / 3600)} h ${Math.floor(value % 3600 / 60)} min`;
  return `${Math.floor(value / 86400)} d ${Math.floor(value % 86400 / 3600)} h`;
};
const share = (part, whole) => (whole > 0 ? part / whole : 0);
const percent = (value) => `${rounded.format(value * 100)} %`;

// In the order in which they are stacked.
const verdicts = [
  { key: 'accepted', name: 'accepted', css: 'accepted' },
  { key: 'suppressed', name: 'suppressed', css: 'suppressed', hatch: 'dots' },
  { key: 'duplicate', name: 'duplicate', css: 'duplicate', hatch: 'bars' },
  { key: 'rejected', name: 'rejected', css: 'rejected', hatch: 'slashes' },
  { key: 'retry_later', name: 'retry later', css: 'retry', hatch: 'posts' },
];

// Patterns, so that no meaning hangs on colour alone.
document.body.append(svg('svg', { width: 0, height: 0, 'aria-hidden': 'true' }, svg('defs', {},
  ...Object.entries({ dots: 'M1 3h1.5', bars: 'M0 3h6', slashes: 'M-1 1l2-2M0 6l6-6M5 7l2-2', posts: 'M3 0v6' })
    .map(([id, d]) => svg('pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse' }, svg('path', { class: 'hatch', d }))))));

const plots = {
  events: new Plot($('events-plot'), { label: 'Events per second by verdict', series: verdicts, stacked: true, format: axis, atLeast: 10, height: 240 }),
  acks: new Plot($('acks-plot'), {
    label: 'Time from arrival to ack', stacked: false, atLeast: 0.001, height: 190, format: (value) => text(seconds(value)),
    series: [{ name: 'commit 99th', css: 'commit' }, { name: 'median', css: 'p50' }, { name: '99th', css: 'p99' }],
  }),
  journal: new Plot($('journal-plot'), {
    label: 'Bytes in the journal', stacked: true, atLeast: 1024, base: 1024, height: 150, format: (value) => text(bytes(value)),
    series: [{ name: 'in the journal', css: 'journal' }],
  }),
};

const cell = (content, css = '', element = 'td') => {
  const made = document.createElement(element);
  if (element === 'th') made.scope = 'row';
  made.className = css;
  made.append(content);
  return made;
};
const span = (css, ...content) => {
  const made = document.createElement('span');
  made.className = css;
  made.append(...content);
  return made;
};
const bar = (part) => {
  const inner = span('');
  inner.style.width = `${Math.min(100, part * 100)}%`;
  const outer = span('bar', inner);
  outer.setAttribute('aria-hidden', 'true');
  return outer;
};

// Puts rows into a table's body; without any, a line that says so.
const fill = (id, rows, columns, nothing) => {
  const made = rows.map((cells) => {
    const row = document.createElement('tr');
    row.append(...cells);
    return row;
  });
  if (!made.length) {
    const row = document.createElement('tr');
    const only = cell(nothing);
    only.colSpan = columns;
    row.className = 'empty';
    row.append(only);
    made.push(row);
  }
  $(id).replaceChildren(...made);
};

const swatch = ({ css, hatch }) => svg('svg', { class: 'swatch', viewBox: '0 0 14 14', 'aria-hidden': 'true' },
  svg('rect', { class: css, width: 14, height: 14 }), ...(hatch ? [svg('rect', { fill: `url(#${hatch})`, width: 14, height: 14 })] : []));

// Why events are rightly not tracked.
const reasons = { flag_off: 'flag off', flag_unknown: 'flag unknown', consent: 'no consent', test_message: 'test', display: 'not shown' };

const showVerdicts = (stats, last) => {
  fill('verdicts', verdicts.map((verdict) => {
    const name = cell(swatch(verdict), '', 'th');
    name.append(verdict.name);
    if (verdict.key === 'suppressed') {
      const parts = Object.entries(reasons).filter(([key]) => stats.events.suppressed_by[key] > 0)
        .map(([key, words]) => `${words} ${numbers.format(stats.events.suppressed_by[key])}`);
      name.append(span('faint parts', parts.join(' · ')));
    }
    const total = cell(numbers.format(stats.events[verdict.key]));
    total.dataset.total = verdict.key;
    // What is to be sent again is in no ledger.
    const kept = cell(stats.ledger.time == null || verdict.key === 'retry_later' ? '–' : numbers.format(stats.ledger.events[verdict.key]));
    kept.dataset.kept = verdict.key;
    return [name, cell(perSecond(last(verdict.key))), total, kept];
  }), 4, '');
};

const showTiles = (stats, last) => {
  const rate = verdicts.reduce((sum, { key }) => sum + last(key), 0);
  const total = verdicts.reduce((sum, { key }) => sum + stats.events[key], 0);
  $('rate').textContent = perSecond(rate);
  $('rate-note').textContent = `${compact.format(total)} since start · ${perSecond(last('requests'))} requests/s`;
  $('rejected').textContent = perSecond(last('rejected'));
  $('rejected').className = last('rejected') > 0 ? 'alarm' : '';
  $('rejected-note').textContent = `${percent(share(stats.events.rejected, total))} of all since start`;
  const ack = last('ack_p99_seconds');
  [$('ack').textContent, $('ack-unit').textContent] = ack === null ? ['–', 'nothing to ack'] : seconds(ack);
  $('ack-note').textContent = ack === null ? '' : `median ${text(seconds(last('ack_p50_seconds')))}`;
  const filled = share(stats.journal.bytes, stats.journal.limit_bytes);
  $('fill').textContent = percent(filled);
  $('fill-note').textContent = `${text(bytes(stats.journal.bytes))} of ${text(bytes(stats.journal.limit_bytes))} · oldest ${text(seconds(stats.journal.oldest_age_seconds))}`;
  setBar('fill-bar', filled);
  $('streams').textContent = numbers.format(stats.streams);
  $('streams-note').textContent = `on ${numbers.format(stats.connections)} ${stats.connections === 1 ? 'connection' : 'connections'}`;
  [$('memory').textContent, $('memory-unit').textContent] = bytes(stats.memory.resident_bytes);
  const flying = share(stats.memory.in_flight_bytes, stats.memory.in_flight_limit_bytes);
  $('memory-note').textContent = `${text(bytes(stats.memory.in_flight_bytes))} of ${text(bytes(stats.memory.in_flight_limit_bytes))} under way`;
  setBar('memory-bar', flying);
};

const setBar = (id, part) => {
  $(id).style.width = `${Math.min(100, part * 100)}%`;
  $(id).className = part >= 0.8 ? 'high' : '';
};

// What a table without rows says of the ledger: whether it is read, and how long ago that was.
const ofLedger = ({ ledger, time }, now, then) => {
  if (ledger.time == null) return 'Not read yet.';
  const age = time - ledger.time;
  return age < 3 ? now : `${then} ${duration(age)} ago.`;
};

// Lines below a row of a table; they stay in sight if the table is scrolled sideways.
const detail = (lines, columns) => {
  const place = document.createElement('div');
  place.append(...lines);
  const made = cell(place, 'detail');
  made.colSpan = columns;
  return made;
};

// Why attempts failed, and the versions of the app if one differs.
const detailsOf = (row) => {
  const lines = [];
  if (row.failed_for) {
    const told = row.failed_for.map(({ reason, count }) => `${reason} ${numbers.format(count)}`);
    const more = row.failed - row.failed_for.reduce((sum, { count }) => sum + count, 0);
    if (more > 0) told.push(`other reasons ${numbers.format(more)}`);
    const later = row.failed - row.undelivered;
    const note = later > 0 ? ` (${numbers.format(later)} of these ${later === 1 ? 'was' : 'were'} sent later)` : '';
    lines.push(span('line', `Failed for ${told.join(', ')}${note}`));
  }
  for (const version of row.versions ?? []) {
    const counts = ['sent', 'reports', 'refused', 'impressions', 'clicks', 'opens'].map((name) => `${numbers.format(version[name])}\u00a0${name}`);
    const line = span('line', `Version ${version.version}${version.platform ? ` on ${version.platform}` : ''}: ${counts.join(', ')}`);
    if (version.differs) line.append(span('tag alarm', 'differs'));
    lines.push(line);
  }
  return lines;
};

const showDeliveries = (stats) => {
  const { busiest, count } = stats.deliveries;
  const nothing = ofLedger(stats, 'No hits yet.', 'There were no hits');
  const most = Math.max(1, ...busiest.flatMap((row) => [row.impressions, row.clicks, row.opens]));
  const counted = (value, ratio = null, css = '') => {
    const made = cell(numbers.format(value), css);
    if (ratio != null) made.append(span('faint share', percent(ratio)));
    made.append(bar(value / most));
    return made;
  };
  const named = (row) => {
    const name = cell(span('mono', row.delivery_id), '', 'th');
    name.append(span('faint', ` ${row.tenant}`));
    if (row.name != null) name.prepend(span('name', row.name));
    return name;
  };
  fill('messages', busiest.filter((row) => row.is_in_app).map((row) => [named(row), counted(row.impressions + row.impressions_ios),
    counted(row.clicks + row.clicks_ios, row.click_ratio), cell(numbers.format(row.dismissals)),
    cell(numbers.format(row.display_errors), row.display_errors ? 'alarm' : '')]), 5, nothing);
  const rate = (value) => cell(value == null ? '–' : percent(value));
  // What nobody has reported as sent is unknown, and not nothing.
  const sent = (count, of, row) => {
    if (count == null) return cell('–');
    const made = cell(numbers.format(count));
    if (of != null) made.append(span('faint share', percent(of)));
    for (const name of ['undelivered', 'failed', 'skipped']) {
      if (row[name]) made.append(span('faint parts', `${numbers.format(row[name])}\u00a0${name}`));
    }
    return made;
  };
  const pushes = busiest.filter((row) => !row.is_in_app).flatMap((row) => {
    const cells = [named(row), sent(row.sent == null ? null : row.sent + row.sent_ios, row.delivered_rate, row), rate(row.open_rate), rate(row.click_through_rate), counted(row.impressions, null, 'apart'), counted(row.clicks, row.click_ratio), cell(numbers.format(row.dismissals)), counted(row.opens, row.open_ratio),
      cell(numbers.format(row.impressions_ios), 'apart'), cell(numbers.format(row.clicks_ios)), cell(numbers.format(row.dismissals_ios)), cell(numbers.format(row.opens_ios))];
    const lines = detailsOf(row);
    return lines.length ? [cells, [detail(lines, 12)]] : [cells];
  });
  // Of these a sender has put totals, and nobody has reported anything.
  const put = (stats.deliveries.put ?? []).flatMap((row) => {
    const of = row.delivered != null && row.sent > 0 ? row.delivered / row.sent : null;
    const rest = cell('');
    rest.colSpan = 10;
    return [[named(row), sent(row.delivered, of, row), rest], [detail([span('line', 'Totals that were put; nothing was reported')], 12)]];
  });
  fill('deliveries', [...pushes, ...put], 12, nothing);
  if (stats.ledger.time == null) return;
  $('deliveries-note').textContent = 'Those with the most hits in the last 24 hours, each with all hits that the ledger has of it; clicks are openings and dismissals together, shares are of what was attempted, and clicks and opens per impression; rates are per notification sent. '
    + `iOS is separate: it does not report every impression. ${numbers.format(count)} ${count === 1 ? 'delivery has' : 'deliveries have'} hits.`;
};

const sinkPlots = new Map();
const plotsOf = (name) => {
  if (!sinkPlots.has(name)) {
    const place = document.createElement('section');
    const [title, rate, lag] = ['h3', 'figure', 'figure'].map((element) => place.appendChild(document.createElement(element)));
    title.textContent = name;
    $('sink-plots').append(place);
    sinkPlots.set(name, {
      rate: new Plot(rate, { label: `Hits per second of ${name}`, series: [{ name: 'hits', css: 'journal' }], stacked: true, format: axis, atLeast: 10, height: 110 }),
      lag: new Plot(lag, {
        label: `How far ${name} is behind`, stacked: false, atLeast: 1, height: 110, format: (value) => text(seconds(value)), series: [{ name: 'behind', css: 'p99' }],
      }),
    });
  }
  return sinkPlots.get(name);
};

const showSinks = ({ sinks, history, time }, window) => {
  fill('sinks', sinks.map((sink) => {
    const name = cell(sink.name, '', 'th');
    if (sink.is_paused) name.append(span('tag alarm', 'paused'));
    if (!sink.is_required) name.append(span('tag', 'optional'));
    const error = cell(sink.last_error == null ? '–' : sink.last_error, 'words');
    if (sink.last_error_time != null) error.append(span('faint', ` ${duration(Math.max(0, time - sink.last_error_time))} ago`));
    return [name, cell(perSecond(sink.hits_per_second)), cell(text(seconds(sink.lag_seconds))), cell(text(bytes(sink.lag_bytes))),
      cell(numbers.format(sink.delivered_hits)), cell(numbers.format(sink.missed_hits), sink.missed_hits ? 'alarm' : ''),
      cell(numbers.format(sink.retries)), cell(numbers.format(sink.dead_letters), sink.dead_letters ? 'alarm' : ''),
      cell(text(bytes(sink.stored_bytes))), error];
  }), 10, 'No sink.');
  for (const { name, hits, lag_seconds: lag } of history.sinks) {
    plotsOf(name).rate.draw(history.time, [hits], window);
    plotsOf(name).lag.draw(history.time, [lag], window);
  }
};

// Its sentence may quote what a client sent: `sightline why` has it.
const finding = (row) => {
  const words = row.code.split('_').flatMap((word, place) => (place ? ['_', document.createElement('wbr'), word] : [word]));
  const made = cell(span('tag', ...words), 'words');
  if (row.summary != null) made.append(span('faint parts', row.summary));
  return made;
};

const showTables = (stats) => {
  fill('quality', stats.quality.map((row) => [cell(span('mono', row.delivery_id), '', 'th'), cell(row.tenant),
    finding(row), cell(numbers.format(row.events))]), 4, ofLedger(stats, 'Nothing is wrong with a delivery.', 'Nothing was wrong with a delivery'));
  fill('refusals', stats.refusals.map((row) => [cell(row.reason, '', 'th'), cell(numbers.format(row.count))]), 2, 'None.');
  // Those since the start, and behind them what only the ledger still has, which counts by the hour.
  const isNew = new Set(stats.rejections.map((row) => `${row.field} ${row.rule}`));
  const earlier = stats.ledger.rejections.filter((row) => !isNew.has(`${row.field} ${row.rule}`)).map((row) => ({ ...row, is_earlier: true }));
  fill('rejections', [...stats.rejections, ...earlier].slice(0, 12).map((row) => {
    const last = cell(row.is_earlier ? 'in the ledger' : `${duration(Math.max(0, stats.time - row.last_time))} ago`);
    last.title = row.is_earlier ? `in the hour of ${new Date(row.last_time * 1000).toLocaleString('en-GB')}` : `first ${clock(row.first_time)}, last ${clock(row.last_time)}`;
    return [cell(span('mono', row.field), '', 'th'), cell(span('tag', row.rule)), cell(numbers.format(row.count)), last];
  }), 4, ofLedger(stats, 'Nothing was rejected.', 'Nothing was rejected until'));
};

// A table that is wider than its place says so: without a bar in sight nobody looks for the rest.
for (const place of document.querySelectorAll('.scroll')) {
  const hint = document.createElement('p');
  hint.className = 'note wider';
  hint.textContent = 'Wider than the screen: scroll it sideways →';
  hint.hidden = true;
  place.before(hint);
  const look = () => { hint.hidden = place.scrollWidth <= place.clientWidth; };
  const observer = new ResizeObserver(look);
  observer.observe(place);
  observer.observe(place.firstElementChild);
}

// The state: said once when it changes, and in the title for who has the page in another tab.
let shownState = '';
const showState = (css, words, title) => {
  document.title = `${title} · Sightline`;
  document.documentElement.classList.toggle('stale', css === 'bad');
  if (shownState === css + words) return;
  shownState = css + words;
  $('state').className = `state ${css}`;
  $('state-text').textContent = words;
};

let startTime = null;
let restarted = '';
const show = (stats) => {
  const last = (key) => stats.history[key].at(-1) ?? (key.endsWith('_seconds') ? null : 0);
  if (startTime !== null && startTime !== stats.start_time) restarted = ` · restarted ${clock(stats.start_time)}`;
  startTime = stats.start_time;
  const { history } = stats;
  // A young server has no use for empty minutes.
  const past = history.time.length ? stats.time - history.time[0] : 0;
  const window = Math.min(history.window_seconds, Math.max(60, Math.ceil(past / 60) * 60));
  plots.events.draw(history.time, verdicts.map(({ key }) => history[key]), window);
  plots.acks.draw(history.time, [history.commit_p99_seconds, history.ack_p50_seconds, history.ack_p99_seconds], window);
  plots.journal.draw(history.time, [history.journal_bytes], window);
  showTiles(stats, last);
  showVerdicts(stats, last);
  showDeliveries(stats);
  showSinks(stats, window);
  showTables(stats);
  $('about').textContent = `${location.host} · ${stats.version} · up ${duration(stats.time - stats.start_time)}${restarted}`;
  const rate = verdicts.reduce((sum, { key }) => sum + last(key), 0);
  if (stats.is_ready) showState('good', 'Takes events', `${compact.format(rate)}/s`);
  else showState('warn', `Not ready: ${stats.not_ready.join('; ')}`, 'Not ready');
};

const interval = 1000;
const longestPause = 10000;
let pause = interval;
let lastAnswer = null;
let timer = null;
let isAsking = false;

const ask = async () => {
  clearTimeout(timer);
  if (isAsking) return;
  isAsking = true;
  try {
    const answer = await fetch('/stats.json', { cache: 'no-store', signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
    lastAnswer = Date.now();
    pause = interval;
  } catch {
    const since = lastAnswer === null ? '' : ` since ${clock(lastAnswer / 1000)}`;
    showState('bad', `No answer${since}; asking again`, 'No answer');
    pause = Math.min(longestPause, pause * 2);
  }
  isAsking = false;
  // What nobody sees is not asked for.
  if (!document.hidden) timer = setTimeout(ask, pause);
};

document.addEventListener('visibilitychange', () => {
  if (document.hidden) clearTimeout(timer);
  else ask();
});
ask();
