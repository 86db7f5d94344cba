"use strict";
const data = JSON.parse(document.getElementById("page-data").textContent);
const byId = (id) => document.getElementById(id);
const redraw = [];  // what is drawn again when the width or the theme changes
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const rgb = (name) => { const h = colour(name).slice(1); return [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16)); };
const minus = (text) => String(text).replace("-", "−");

// A canvas whose pixels are those of the screen; gives its context in units of CSS.
function prepare(canvas, ratio) {
  const width = canvas.clientWidth || 300, height = Math.round(width * ratio), scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return [context, width, height];
}

// SVG by hand: element, attributes, text. Exponents are raised.
function draw(parent, name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
function power(parent, attributes, exponent) {
  const text = draw(parent, "text", attributes);
  if (exponent === 0) { text.textContent = "1"; return; }
  text.textContent = "10";
  const raised = draw(text, "tspan", { dy: -5, "font-size": 10 }, minus(exponent));
  return raised;
}

// ---------------------------------------------------------------- picture 1
function planePicture({ samples, frames, point }) {
  const unpack = (frame) => {
    const bytes = Uint8Array.from(atob(frame.neurons), (c) => c.charCodeAt(0));
    return { ...frame, neurons: new Float32Array(bytes.buffer) };
  };
  const all = [...frames.map(unpack), { ...unpack(point), last: true }];
  const xs = samples.map((s) => s[0]), ys = samples.map((s) => s[1]);
  const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  const reach = Math.max((Math.max(...xs) - Math.min(...xs)) / 1.7, Math.max(...ys) - Math.min(...ys)) * 0.58;
  const columns = 204, rows = 120;

  function outputs(neurons) {
    const values = new Float32Array((columns + 1) * (rows + 1));
    const dx = (3.4 * reach) / columns, dy = (2 * reach) / rows, x0 = middle[0] - 1.7 * reach, y0 = middle[1] + reach;
    for (let j = 0; j < neurons.length; j += 4) {
      const [a, b, c, sign] = neurons.subarray(j, j + 4);
      if (a === 0 && b === 0 && c === 0) continue;
      for (let r = 0, k = 0; r <= rows; r++) {
        let z = a * x0 + b * (y0 - r * dy) + c;
        for (let q = 0; q <= columns; q++, k++, z += a * dx) if (z > 0) values[k] += sign * z;
      }
    }
    return values;
  }

  function contour(context, values, level, width, height) {
    const sx = width / columns, sy = height / rows, w = columns + 1;
    context.beginPath();
    for (let r = 0; r < rows; r++) for (let q = 0; q < columns; q++) {
      const k = r * w + q, corner = [values[k], values[k + 1], values[k + w + 1], values[k + w]].map((v) => v - level);
      const crossing = [];
      for (let e = 0; e < 4; e++) {
        const u = corner[e], v = corner[(e + 1) % 4];
        if ((u > 0) === (v > 0)) continue;
        const t = u / (u - v), at = [[q + t, r], [q + 1, r + t], [q + 1 - t, r + 1], [q, r + 1 - t]][e];
        crossing.push(at);
      }
      for (let c = 0; c + 1 < crossing.length; c += 2) {
        context.moveTo(crossing[c][0] * sx, crossing[c][1] * sy);
        context.lineTo(crossing[c + 1][0] * sx, crossing[c + 1][1] * sy);
      }
    }
    context.stroke();
  }

  function paint(canvas, frame, small) {
    const [context, width, height] = prepare(canvas, 10 / 17), values = outputs(frame.neurons);
    const sorted = Float32Array.from(values, Math.abs).sort(), cut = 1.5 * sorted[sorted.length >> 1] || 1;
    const heat = new ImageData(columns + 1, rows + 1), ground = rgb("paper"), plus = rgb("plus"), below = rgb("minus");
    values.forEach((v, k) => {
      const t = 0.52 * Math.min(1, Math.abs(v) / cut), to = v > 0 ? plus : below;
      for (let c = 0; c < 3; c++) heat.data[4 * k + c] = ground[c] + t * (to[c] - ground[c]);
      heat.data[4 * k + 3] = 255;
    });
    const under = document.createElement("canvas");
    under.width = columns + 1; under.height = rows + 1;
    under.getContext("2d").putImageData(heat, 0, 0);
    context.drawImage(under, 0, 0, width, height);
    const unit = width / (3.4 * reach), X = (x) => (x - middle[0] + 1.7 * reach) * unit, Y = (y) => (middle[1] + reach - y) * unit;
    const ink = colour("ink"), n = frame.neurons;
    let total = 0;
    for (let j = 0; j < n.length; j += 4) total += Math.hypot(n[j], n[j + 1], n[j + 2]);
    context.strokeStyle = ink; context.lineWidth = small ? 0.6 : 1;
    for (let j = 0; j < n.length; j += 4) {
      const [a, b, c] = n.subarray(j, j + 3), size = Math.hypot(a, b);
      if (!size) continue;
      context.globalAlpha = Math.min(0.95, 0.05 + 3.2 * Math.hypot(a, b, c) / total);
      const px = middle[0] - a * (a * middle[0] + b * middle[1] + c) / size ** 2;
      const py = middle[1] - b * (a * middle[0] + b * middle[1] + c) / size ** 2, far = 6 * reach;
      context.beginPath();
      context.moveTo(X(px - far * b / size), Y(py + far * a / size));
      context.lineTo(X(px + far * b / size), Y(py - far * a / size));
      context.stroke();
    }
    context.globalAlpha = 1;
    if (frame.separates && !small) {
      context.lineWidth = 1.6;
      context.strokeStyle = colour("plus"); contour(context, values, 1, width, height);
      context.strokeStyle = colour("minus"); contour(context, values, -1, width, height);
    }
    context.lineWidth = small ? 3 : 6; context.strokeStyle = colour("paper"); contour(context, values, 0, width, height);
    context.lineWidth = small ? 1.4 : 2.8; context.strokeStyle = ink; contour(context, values, 0, width, height);
    const size = small ? 1.6 : Math.max(3, width / 150);
    samples.forEach(([x, y, label]) => {
      context.beginPath();
      if (label > 0) context.rect(X(x) - size, Y(y) - size, 2 * size, 2 * size);
      else context.arc(X(x), Y(y), 1.12 * size, 0, 7);
      context.fillStyle = colour(label > 0 ? "plus" : "minus"); context.fill();
      context.strokeStyle = colour("paper"); context.lineWidth = small ? 0.4 : 1.2; context.stroke();
    });
    if (small) return;
    for (const index of frame.on_margin) {
      const [x, y] = samples[index];
      for (const [style, line] of [[colour("paper"), 5], [colour("exact"), 2.4]]) {
        context.beginPath(); context.arc(X(x), Y(y), 2.5 * size, 0, 7);
        context.strokeStyle = style; context.lineWidth = line; context.stroke();
      }
    }
  }

  const exponent = (value) => Math.floor(Math.log10(value));
  function scientific(value) {
    if (value === null) return "–";
    if (value >= 0.01) return value.toFixed(2);
    const e = exponent(value);
    return `${Math.round(value / 10 ** e)}·10<sup>${minus(e)}</sup>`;
  }

  function residualChart(now) {
    const svg = byId("residuals");
    if (!svg) return;
    const width = svg.parentElement.clientWidth, height = 236;
    svg.replaceChildren(); svg.setAttribute("viewBox", `0 0 ${width} ${height}`); svg.setAttribute("height", height);
    const left = 40, right = width - 14, top = 34, bottom = height - 44;
    draw(svg, "text", { x: 0, y: 12 }, "KKT residual: how far the network is out of balance");
    const judged = all.filter((f) => f.residual !== null && !f.last);
    const first = Math.max(0, judged.length ? judged[0].log10_loss : 0), end = judged.length ? judged.at(-1).log10_loss : -20;
    const stop = left + 0.82 * (right - left);
    const X = (l) => left + (stop - left) * (first - l) / (first - end), Y = (v) => top + (bottom - top) * Math.min(16, -Math.log10(v)) / 16;
    draw(svg, "rect", { x: left, y: Y(1e-14), width: right - left, height: bottom - Y(1e-14), fill: "var(--exact)", opacity: 0.1 });
    for (const e of [0, -4, -8, -12, -16]) {
      draw(svg, "path", { d: `M${left} ${Y(10 ** e)}H${right}`, stroke: "var(--line)" });
      power(svg, { x: left - 8, y: Y(10 ** e) + 4, "text-anchor": "end" }, e);
    }
    for (const e of [0, -5, -10, -15, -20]) if (e <= first && e >= end - 0.5) power(svg, { x: X(e) - 8, y: bottom + 18 }, e);
    draw(svg, "text", { x: right, y: bottom + 18, "text-anchor": "end" }, "→ 0");
    draw(svg, "text", { x: (left + stop) / 2, y: bottom + 38, "text-anchor": "middle" }, "training loss");
    const path = (key) => judged.map((f, i) => `${i ? "L" : "M"}${X(f.log10_loss)} ${Y(f[key])}`).join("");
    draw(svg, "path", { d: path("forgiven"), fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "3 3" });
    draw(svg, "path", { d: path("residual"), fill: "none", stroke: "var(--ink)", "stroke-width": 2.2 });
    const last = judged.at(-1);
    if (last) {
      draw(svg, "text", { x: left + 8, y: Y(1) + 52, class: "strong" }, `training ends at ${last.residual.toFixed(2)}`);
      draw(svg, "text", { x: left + 8, y: Y(1) + 69 }, `near kinks forgiven: ${last.forgiven.toFixed(2)}`);
      if (point.residual !== null) {
        const d = `M${X(last.log10_loss)} ${Y(last.residual)}L${right - 8} ${Y(point.residual)}`;
        draw(svg, "path", { d, fill: "none", stroke: "var(--exact)", "stroke-width": 1.6, "stroke-dasharray": "2 3" });
      }
    }
    if (point.residual !== null) {
      draw(svg, "circle", { cx: right - 8, cy: Y(point.residual), r: 5, fill: "var(--exact)" });
      draw(svg, "text", { x: right - 18, y: Y(1e-14) - 6, "text-anchor": "end", class: "exact" }, "exact, up to rounding");
    }
    if (now.residual !== null) {
      const x = now.last ? right - 8 : X(now.log10_loss);
      draw(svg, "circle", { cx: x, cy: Y(now.residual), r: 8, fill: "none", stroke: now.last ? "var(--exact)" : "var(--ink)", "stroke-width": 2 });
    }
  }

  let current = all.length - 1;
  const slider = byId("frame"), play = byId("play");
  if (slider) slider.max = all.length - 1;
  const separated = all.findIndex((f) => f.right === samples.length);
  const stops = !slider ? [] : [[0, "random start"], [separated, `all ${samples.length} right`], [all.length - 2, "training ends"], [all.length - 1, "the KKT point"]];
  const thumbs = stops.filter(([index]) => index >= 0).map(([index, words]) => {
    const button = document.createElement("button"), canvas = document.createElement("canvas");
    button.type = "button"; button.append(canvas, words);
    byId("thumbs").append(button);
    button.addEventListener("click", () => { halt(); show(index); });
    return { button, canvas, index };
  });
  function show(index) {
    current = index;
    const frame = all[index];
    if (slider) slider.value = index;
    if (slider) slider.setAttribute("aria-valuetext", frame.last ? "the KKT point" : frame.log10_loss > -1 ? `loss ${(10 ** frame.log10_loss).toPrecision(2)}` : `loss 10 to the ${Math.round(frame.log10_loss)}`);
    paint(byId("plane"), frame, false);
    if (byId("s-loss")) byId("s-loss").innerHTML = frame.last ? "→ 0" : frame.log10_loss > -1 ? (10 ** frame.log10_loss).toPrecision(2) : `10<sup>${minus(Math.round(frame.log10_loss))}</sup>`;
    byId("s-residual").innerHTML = scientific(frame.residual);
    byId("s-neurons").textContent = frame.directions;
    byId("s-margin").textContent = `${frame.on_margin.length} of ${samples.length}`;
    for (const id of ["s-residual", "s-neurons", "s-margin"]) byId(id).parentElement.classList.toggle("now", Boolean(frame.last) && frame.residual !== null && frame.residual < 1e-8);
    thumbs.forEach((t) => t.button.setAttribute("aria-pressed", String(t.index === index)));
    residualChart(frame);
  }
  let timer = null;
  function halt() { clearTimeout(timer); timer = null; play.textContent = "▶ Play"; }
  function step() {
    if (current >= all.length - 1) { halt(); return; }
    show(current + 1);
    timer = setTimeout(step, current === all.length - 2 ? 900 : 90);
  }
  if (play) play.addEventListener("click", () => {
    if (timer !== null) { halt(); return; }
    play.textContent = "❚❚ Stop";
    if (current >= all.length - 1) show(0);
    timer = setTimeout(step, 300);
  });
  if (slider) slider.addEventListener("input", () => { halt(); show(Number(slider.value)); });
  redraw.push(() => { thumbs.forEach((t) => paint(t.canvas, all[t.index], true)); show(current); });
}

// ---------------------------------------------------------------- picture 2
function digitPicture(record) {
  const { images, labels, vector, network, upper, radii, curve } = record;
  const names = { "-1": "3", "1": "8" }, total = labels.length;
  const output = (x) => network.v.reduce((sum, v, j) => {
    let z = network.b ? network.b[j] : 0;
    for (let i = 0; i < x.length; i++) z += network.W[j][i] * x[i];
    return sum + v * Math.max(0, z);
  }, 0);
  const moved = (index, t) => images[index].map((x, i) => x - labels[index] * t * vector[i]);
  const shade = (value, ground) => {
    const t = Math.min(1, Math.max(0, value / 16)), dark = [24, 26, 32];
    return ground.map((g, c) => g + t * (dark[c] - g));
  };
  const grounds = () => ({ "-1": rgb("plus-paper"), "1": rgb("minus-paper") });

  // One digit with an empty pixel around it, bilinearly enlarged.
  function tile(context, x, y, size, values, ground, tone) {
    const small = document.createElement("canvas"), pixels = new ImageData(10, 10);
    small.width = small.height = 10;
    for (let r = 0; r < 10; r++) for (let c = 0; c < 10; c++) {
      const inside = r > 0 && r < 9 && c > 0 && c < 9, value = inside ? values[8 * (r - 1) + c - 1] : 0;
      const at = 4 * (10 * r + c), shown = tone ? tone(value) : shade(value, ground);
      for (let k = 0; k < 3; k++) pixels.data[at + k] = shown[k];
      pixels.data[at + 3] = 255;
    }
    small.getContext("2d").putImageData(pixels, 0, 0);
    context.imageSmoothingEnabled = true; context.imageSmoothingQuality = "high";
    context.save(); context.beginPath(); context.rect(x, y, size, size); context.clip();
    context.drawImage(small, 0.5, 0.5, 9, 9, x, y, size, size); context.restore();
  }

  const largest = Math.max(...vector.map(Math.abs)) || 1;
  const grey = (value) => { const g = 150 - 120 * value / largest; return [g, g, g]; };
  const hardest = radii.indexOf(Math.max(...radii)), median = [...radii].sort((a, b) => a - b)[radii.length >> 1];
  const typical = (label) => radii.map((r, i) => [Math.abs(r - median), i]).filter(([, i]) => labels[i] === label && i !== hardest).sort((a, b) => a[0] - b[0])[0][1];
  const rows = [typical(1), typical(-1), hardest].map((index, place) => {
    const row = document.createElement("div"); row.className = "equation";
    const cells = [0, 1, 2].map(() => {
      const figure = document.createElement("figure"), canvas = document.createElement("canvas"), words = document.createElement("figcaption");
      figure.append(canvas, words); return { figure, canvas, words };
    });
    const sign = (text) => { const s = document.createElement("span"); s.className = "sign"; s.textContent = text; return s; };
    row.append(cells[0].figure, sign(labels[index] > 0 ? "−" : "+"), cells[1].figure, sign("="), cells[2].figure);
    byId("equations").append(row);
    return { index, cells, place };
  });

  function equations(t) {
    const ground = grounds();
    for (const { index, cells, place } of rows) {
      const after = moved(index, t), before = labels[index], now = output(after) * before > 0 ? before : -before;
      const images3 = [[images[index], ground[before]], [vector.map((v) => v * t), null], [after, ground[now]]];
      images3.forEach(([values, colourOf], c) => {
        const [context, width] = prepare(cells[c].canvas, 1);
        tile(context, 0, 0, width, values, colourOf, colourOf === null ? grey : null);
      });
      cells[0].words.textContent = place === 2 ? `the hardest ${names[before]}` : `read as ${names[before]}`;
      cells[1].words.textContent = place === 0 ? "the vector" : "the same";
      cells[2].words.textContent = `read as ${names[now]}`;
      cells[2].words.className = now === before ? "" : now > 0 ? "minus" : "plus";
    }
  }

  function mosaics(t) {
    const ground = grounds();
    for (const [label, id, word] of [[-1, "threes", "threes"], [1, "eights", "eights"]]) {
      const chosen = labels.flatMap((l, i) => (l === label ? [i] : [])), across = 13;
      const [context, width] = prepare(byId(id), Math.ceil(chosen.length / across) / across), size = width / across;
      let flipped = 0;
      chosen.forEach((index, place) => {
        const after = moved(index, t), now = output(after) * label > 1e-9 ? label : -label;
        if (now !== label) flipped++;
        tile(context, (place % across) * size, Math.floor(place / across) * size, size - 0.8, after, ground[now], null);
      });
      byId(`count-${id}`).innerHTML = `<b>${flipped} of ${chosen.length} ${word}</b> read as <span class="${label > 0 ? "plus" : "minus"}">${names[-label]}</span>`;
    }
  }

  function flipChart(t) {
    const svg = byId("flips"), width = svg.parentElement.clientWidth, narrow = width < 600, height = narrow ? 310 : 306;
    svg.replaceChildren(); svg.setAttribute("viewBox", `0 0 ${width} ${height}`); svg.setAttribute("height", height);
    const left = 44, right = width - 8, top = 26, floor = narrow ? 150 : 158, bottom = height - 40, end = upper * 1.12, length = t * upper;
    const X = (v) => left + (right - left) * v / end, Y = (s) => floor - (floor - top) * s;
    let path = `M${X(0)} ${Y(0)}`, share = 0;
    curve.norm.forEach((norm, i) => { path += `H${X(Math.min(norm, end))}V${Y(curve.after[i] ?? curve.at[i])}`; share = curve.after[i] ?? curve.at[i]; });
    path += `H${right}`;
    draw(svg, "path", { d: `${path}V${Y(0)}Z`, fill: "var(--exact)", opacity: 0.1 });
    for (const s of [0, 0.5, 1]) {
      draw(svg, "path", { d: `M${left} ${Y(s)}H${right}`, stroke: "var(--line)" });
      draw(svg, "text", { x: left - 8, y: Y(s) + 4, "text-anchor": "end" }, `${100 * s} %`);
    }
    draw(svg, "path", { d: path, fill: "none", stroke: "var(--exact)", "stroke-width": 2.2 });
    draw(svg, "text", { x: left, y: 12 }, "digits flipped");
    const random = record.random_share;
    draw(svg, "path", { d: `M${X(0)} ${Y(0)}L${X(upper)} ${Y(random)}`, stroke: "var(--soft)", "stroke-width": 1.2, "stroke-dasharray": "3 3" });
    draw(svg, "text", { x: X(upper) - 8, y: Y(random) - 8, "text-anchor": "end" }, narrow ? `random: ${Math.round(100 * random)} %` : `a random direction of this length flips ${Math.round(100 * random)} %`);
    draw(svg, "text", { x: X(upper) - 10, y: Y(0.66), "text-anchor": "end", class: "exact" }, narrow ? `${upper.toFixed(2)} flips all` : `length ${upper.toFixed(2)} flips all ${total}, ${record.none_shorter}`);
    // each digit at its exact distance, stacked
    const bins = new Map(), width1 = narrow ? 4 : 5;
    radii.forEach((r, i) => { const b = Math.round((X(r) - left) / width1); bins.set(b, [...(bins.get(b) ?? []), i]); });
    const most = Math.max(...[...bins.values()].map((b) => b.length)), unit = Math.min(width1, (bottom - floor - 22) / most);
    for (const [b, members] of bins) members.sort((i, j) => labels[i] - labels[j]).forEach((i, place) => draw(svg, "rect", {
      x: left + b * width1 - width1 / 2 + 0.4, y: bottom - (place + 1) * unit, width: width1 - 0.8, height: Math.max(0.6, unit - 0.5),
      fill: labels[i] > 0 ? "var(--minus)" : "var(--plus)", opacity: radii[i] <= length + 1e-9 ? 1 : 0.35 }));
    const least = Math.min(...radii), crowd = radii.filter((r) => r - least < 1e-6 * least).length;
    if (crowd > 3 && narrow) draw(svg, "text", { x: X(least) + 8, y: floor + 26 }, `${crowd} on the margin, all at ${least.toFixed(3)}`);
    else if (crowd > 3) [`${crowd} digits on the margin,`, `all exactly ${least.toFixed(3)} away`].forEach((line, i) =>
      draw(svg, "text", { x: X(least) - 12, y: (floor + bottom) / 2 + 8 + 17 * i, "text-anchor": "end" }, line));
    draw(svg, "path", { d: `M${left} ${bottom}H${right}`, stroke: "var(--ink)" });
    for (let v = 0; v <= end; v += 4) if (Math.abs(X(v) - X(upper)) > 36 || v === 0) draw(svg, "text", { x: X(v), y: bottom + 16, "text-anchor": "middle" }, v);
    draw(svg, "text", { x: X(upper), y: bottom + 16, "text-anchor": "middle", class: "exact" }, upper.toFixed(2));
    draw(svg, "text", { x: left, y: bottom + 34 }, narrow ? "length (grey levels 0 to 16); blocks: exact distances" : "length of the vector (grey levels, pixels run from 0 to 16). Each block: one digit, at its exact distance to the boundary");
    slider.style.marginLeft = `${left - 8}px`; slider.style.flex = `0 0 ${X(upper) - left + 16}px`;  // under its axis
    draw(svg, "path", { d: `M${X(length)} ${top - 8}V${bottom}`, stroke: "var(--ink)", "stroke-width": 1.5 });
  }

  let t = 1;
  const slider = byId("length"), most = 1.0;
  const show = () => { equations(t); mosaics(t); flipChart(t); };
  const say = () => slider.setAttribute("aria-valuetext", `length ${(t * upper).toFixed(2)}`);
  say();
  slider.addEventListener("input", () => {
    t = most * Number(slider.value) / 1000;
    say();
    requestAnimationFrame(show);
  });
  redraw.push(show);
}

// ---------------------------------------------------------------- theme, width, Vega
if (data.plane) planePicture(data.plane);
if (data.digits && data.digits.curve) digitPicture(data.digits);
const root = document.documentElement, button = byId("theme");
const label = () => { button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark"; };
button.addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; label(); redraw.forEach((f) => f()); });
label();
redraw.forEach((f) => f());
let seen = root.clientWidth, waiting = null;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (root.clientWidth !== seen) { seen = root.clientWidth; redraw.forEach((f) => f()); } }, 120);
});
Promise.all([...document.querySelectorAll(".chart")].map((chart) => {
  const specification = JSON.parse(byId(chart.id + "-specification").textContent);
  return vegaEmbed(chart, specification, { renderer: "svg", actions: false, tooltip: { theme: "custom" } }).then((made) => made.view.runAsync());
})).then(() => { root.dataset.drawn = "yes"; });
