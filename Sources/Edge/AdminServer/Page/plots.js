'use strict';
// Plots over time, drawn as SVG: stacked areas or lines. Arrow keys and the pointer read values.

const svg = (name, attributes = {}, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

// The least round number that is not below a value; bytes are round by powers of 1,024.
const niceCeiling = (value, base) => {
  const unit = base === 10 ? 1 : base ** Math.floor(Math.log(value) / Math.log(base));
  const power = 10 ** Math.floor(Math.log10(value / unit));
  return [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].map((step) => step * power * unit).find((step) => step >= value * 0.999);
};

class Plot {
  // options: label, series [{name, css, hatch}], stacked, format(value), atLeast, height, base
  constructor(figure, options) {
    Object.assign(this, { figure, ...options });
    this.margin = { left: 52, right: 6, top: 8, bottom: 20 };
    this.root = svg('svg', { height: this.height, tabindex: 0, role: 'img' });
    this.layers = { grid: svg('g'), marks: svg('g'), cursor: svg('line', { class: 'cursor' }) };
    this.root.append(...Object.values(this.layers));
    this.readout = document.createElement('output');
    figure.append(this.root, this.readout);
    this.marks = this.series.map((series) => {
      const fill = svg('path', { class: this.stacked ? `area ${series.css}` : `line ${series.css}` });
      const hatch = series.hatch ? svg('path', { fill: `url(#${series.hatch})` }) : null;
      this.layers.marks.append(fill, ...(hatch ? [hatch] : []));
      return { fill, hatch };
    });
    this.index = null;
    this.root.addEventListener('pointermove', (event) => this.point(event));
    this.root.addEventListener('pointerdown', (event) => this.point(event));
    this.root.addEventListener('pointerleave', () => this.select(null));
    this.root.addEventListener('blur', () => this.select(null));
    this.root.addEventListener('keydown', (event) => this.press(event));
    new ResizeObserver(() => this.redraw()).observe(figure);
  }

  // times in seconds since 1970, ascending; columns one array per series, null where there is none.
  draw(times, columns, window) {
    // What somebody reads stays the same moment while time goes on.
    const read = this.index === null ? null : this.times[this.index];
    Object.assign(this, { times, columns, window });
    if (read !== null) {
      const index = times.indexOf(read);
      this.index = index < 0 ? null : index;
      if (index < 0) this.readout.textContent = '';
    }
    this.redraw();
  }

  redraw() {
    if (!this.times) return;
    const width = this.figure.clientWidth;
    if (width < 80) return;
    this.root.setAttribute('viewBox', `0 0 ${width} ${this.height}`);
    const { left, right, top, bottom } = this.margin;
    const end = this.times.at(-1) ?? 0;
    const tops = this.times.map((_, row) => {
      const values = this.columns.map((column) => column[row] ?? 0);
      return this.stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
    });
    const highest = niceCeiling(Math.max(this.atLeast, ...tops), this.base ?? 10);
    this.x = (time) => width - right - (end - time) / this.window * (width - left - right);
    this.y = (value) => this.height - bottom - value / highest * (this.height - top - bottom);
    this.drawGrid(width, highest, end);
    const base = this.times.map(() => 0);
    this.series.forEach((_, place) => {
      const path = this.stacked ? this.area(this.columns[place], base) : this.line(this.columns[place]);
      this.marks[place].fill.setAttribute('d', path);
      this.marks[place].hatch?.setAttribute('d', path);
    });
    const now = this.series.map(({ name }, place) => {
      const value = this.columns[place].at(-1);
      return `${name} ${value == null ? 'none' : this.format(value)}`;
    });
    const summary = `highest ${this.format(Math.max(0, ...tops))}; now ${now.join(', ')}`;
    this.root.setAttribute('aria-label', `${this.label}: ${summary}. Arrow keys read values.`);
    this.placeCursor();
  }

  drawGrid(width, highest, end) {
    const { left, right, bottom } = this.margin;
    const parts = [];
    const steps = this.height < 130 ? 2 : 4;
    for (let step = 0; step <= steps; step += 1) {
      const value = highest * step / steps;
      const y = Math.round(this.y(value)) + 0.5;
      parts.push(svg('line', { class: 'grid', x1: left, x2: width - right, y1: y, y2: y }));
      parts.push(svg('text', { class: 'tick', x: left - 8, y: y + 4, 'text-anchor': 'end' }, this.format(value)));
    }
    const minutes = this.window / 60;
    const stride = Math.max(1, Math.ceil(minutes / (width < 480 ? 3 : 5)));
    for (let minute = 0; minute <= minutes; minute += stride) {
      const text = minute === 0 ? 'now' : `−${minute} min`;
      const anchor = minute === 0 ? 'end' : minute === minutes ? 'start' : 'middle';
      const x = this.x(end - minute * 60);
      parts.push(svg('text', { class: 'tick', x, y: this.height - bottom + 15, 'text-anchor': anchor }, text));
    }
    this.layers.grid.replaceChildren(...parts);
  }

  // A column stacked on a base, which it raises.
  area(column, base) {
    if (!column.length) return '';
    const point = (row, value) => `${this.x(this.times[row]).toFixed(1)} ${this.y(value).toFixed(1)}`;
    const lower = base.map((value, row) => point(row, value)).reverse();
    const upper = base.map((value, row) => {
      base[row] = value + (column[row] ?? 0);
      return point(row, base[row]);
    });
    // A single sample has no width of its own.
    if (column.length < 2) return `M${upper[0]}h1.5V${lower[0].split(' ')[1]}h-1.5Z`;
    return `M${upper.join('L')}L${lower.join('L')}Z`;
  }

  line(column) {
    let path = '';
    let isDrawing = false;
    column.forEach((value, row) => {
      if (value === null) { isDrawing = false; return; }
      const isAlone = !isDrawing && (column[row + 1] ?? null) === null;
      const point = `${this.x(this.times[row]).toFixed(1)} ${this.y(value).toFixed(1)}`;
      path += `${isDrawing ? 'L' : 'M'}${point}${isAlone ? 'h1.5' : ''}`;
      isDrawing = true;
    });
    return path;
  }

  point(event) {
    if (!this.times?.length) return;
    const box = this.root.getBoundingClientRect();
    const end = this.times.at(-1);
    const time = end - (this.x(end) - (event.clientX - box.left)) / (this.x(end) - this.x(end - 1));
    let nearest = 0;
    this.times.forEach((candidate, row) => {
      if (Math.abs(candidate - time) < Math.abs(this.times[nearest] - time)) nearest = row;
    });
    this.select(nearest);
  }

  press(event) {
    const last = (this.times?.length ?? 0) - 1;
    if (last < 0) return;
    const from = this.index ?? last + 1;
    const next = { ArrowLeft: from - 1, ArrowRight: from + 1, PageUp: from - 30, PageDown: from + 30, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') this.select(null);
    if (next === undefined) return;
    event.preventDefault();
    this.select(Math.min(last, Math.max(0, next)));
  }

  select(index) {
    this.index = index;
    if (index === null) {
      this.readout.textContent = '';
    } else {
      const values = this.series.map(({ name }, place) => {
        const value = this.columns[place][index];
        return `${name} ${value === null ? '–' : this.format(value)}`;
      });
      this.readout.textContent = `${clock(this.times[index])}  ${values.join(' · ')}`;
    }
    this.placeCursor();
  }

  placeCursor() {
    const { cursor } = this.layers;
    cursor.toggleAttribute('hidden', this.index === null);
    cursor.style.display = this.index === null ? 'none' : '';
    if (this.index === null) return;
    const x = Math.round(this.x(this.times[this.index])) + 0.5;
    for (const [key, value] of Object.entries({ x1: x, x2: x, y1: this.margin.top, y2: this.height - this.margin.bottom })) {
      cursor.setAttribute(key, value);
    }
  }
}
