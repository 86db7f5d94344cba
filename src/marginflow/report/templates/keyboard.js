// Legends, brushes and zooms of Vega answer the mouse; here they answer the keyboard as well.
// A name of a legend: Enter or Space leaves its series alone (with Shift: this one too), Escape brings all back.
// A chart with a brush or a zoom: left and right move it, up and down change its width, Escape ends it.
function answerKeys(chart, view) {
  const signals = view.getState({ signals: () => true, data: () => false }).signals;
  const click = (target, shiftKey) => target.dispatchEvent(new MouseEvent("click", { bubbles: true, view: window, shiftKey }));
  const names = () => [...chart.querySelectorAll(".role-legend-label text")];
  if ("chosen_tuple" in signals) {
    const reach = () => names().forEach((name) => {  // Vega may draw them anew
      if (name.tabIndex === 0) return;
      const words = `${name.textContent}: leave only this series`;
      for (const [key, value] of [["tabindex", 0], ["role", "button"], ["aria-label", words]]) name.setAttribute(key, value);
    });
    reach();
    new MutationObserver(reach).observe(chart, { childList: true, subtree: true });
  }
  const brushed = "brush_x" in signals;
  const along = signals.zoom_tuple_fields;
  if (brushed || along) {
    chart.tabIndex = 0;
    chart.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight ArrowUp ArrowDown Escape");
  }
  chart.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (names().includes(event.target) && (event.key === "Enter" || event.key === " ")) click(event.target, event.shiftKey);
    else if (event.key === "Escape" && brushed && event.target === chart) brush([]);
    else if (event.key === "Escape" && event.target === chart && along) zoom([null, null]);
    else if (event.key === "Escape") chooseAll();
    else if (event.target === chart && way && brushed) moveBrush(...way);
    else if (event.target === chart && way && along) moveAxis(...way);
    else return;
    event.preventDefault();
  });
  function chooseAll() {
    Object.keys(signals).filter((name) => /^chosen_.*_legend$/.test(name)).forEach((name) => view.signal(name, null));
    view.signal("chosen_toggle", false).runAsync();
  }
  function brush(extent) {
    view.signal("brush_x", extent);
    if ("brush_y" in signals) view.signal("brush_y", extent.length ? [0, view.height()] : []);
    view.runAsync();
  }
  function moveBrush(aside, wider) {
    const width = view.width(), step = width / 20, now = view.signal("brush_x");
    if (now.length < 2 || now[0] === now[1]) return brush([8 * step, 12 * step]);
    const half = Math.max(step / 2, Math.min(width / 2, (Math.abs(now[1] - now[0]) + wider * step) / 2));
    const middle = Math.max(half, Math.min(width - half, (now[0] + now[1]) / 2 + aside * step));
    brush([middle - half, middle + half]);
  }
  function zoom(domains) {
    along.forEach((entry, index) => view.signal(`zoom_${entry.field}`, domains[index]));
    view.runAsync();
  }
  function moveAxis(aside, closer) {
    const shares = [0.1 * aside + 0.1 * closer, 1 + 0.1 * aside - 0.1 * closer];
    const x = shares.map((share) => view.scale("x").invert(share * view.width()));
    zoom(along.map((entry) => (entry.channel === "x" ? x : view.scale("y").domain())));
  }
}
