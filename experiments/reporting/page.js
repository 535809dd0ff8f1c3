"use strict";
(() => {
  const { figures, dark } = JSON.parse(document.getElementById("report-data").textContent);
  const darkOf = new Map(Object.entries(dark));
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isNarrow = matchMedia("(max-width: 640px)");
  const isTouched = matchMedia("(pointer: coarse)");
  const places = [...document.querySelectorAll(".plot")];
  const config = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["toImage", "resetScale2d"]],
  };
  const PRINTED = 680; // pixels across a sheet of paper

  // Figures come in the colours of a light page.
  function darken(value) {
    if (typeof value === "string") return darkOf.get(value) ?? value;
    if (Array.isArray(value)) return value.map(darken);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, darken(one)]));
  }

  // On a narrow page the legend goes below and the names of the stages stand upright.
  function narrow(figure) {
    const { data, layout } = figure;
    const named = data.filter((trace) => trace.name !== undefined && trace.showlegend !== false);
    if (layout.showlegend !== false && named.length > 1) {
      const rows = Math.ceil(named.length / 2);
      layout.legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left", y: 0, yanchor: "bottom", yref: "container", entrywidth: 0.5, entrywidthmode: "fraction" };
      layout.height = 340 + 20 * rows;
    }
    const stages = (layout.annotations ?? []).filter((annotation) => annotation.name === "stage");
    for (const stage of stages) stage.textangle = -90;
    if (stages.length) layout.margin = { ...layout.margin, t: 56 };
  }

  function prepare(place, { forPaper = false } = {}) {
    const source = figures[Number(place.dataset.figure)];
    const figure = prefersDark.matches && !forPaper ? darken(source) : structuredClone(source);
    const layout = (figure.layout ??= {});
    if (isNarrow.matches && !forPaper) narrow(figure);
    layout.dragmode = isTouched.matches ? false : "zoom";
    if (forPaper) layout.width = PRINTED;
    place.style.minWidth = forPaper ? "" : `${layout.meta?.min_width ?? 0}px`;
    return figure;
  }

  async function draw(place, how) {
    try {
      const { data, layout } = prepare(place, how);
      await Plotly.react(place, data, layout, config);
      return true;
    } catch (error) {
      place.textContent = `This figure could not be drawn: ${error.message}`;
      return false;
    }
  }

  async function drawAll(how) {
    const drawn = await Promise.all(places.map((place) => draw(place, how)));
    document.body.dataset.drawn = String(drawn.filter(Boolean).length);
    document.body.dataset.failed = String(drawn.filter((one) => !one).length);
  }

  // A click on a head sorts: numbers from the highest, words from A, then the other way, then as written.
  function makeSortable(table) {
    const body = table.tBodies[0];
    const written = [...body.rows];
    if (written.length < 3) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortBy(table, written, head, column));
    });
  }

  function sortBy(table, written, head, column) {
    const isNumeric = head.classList.contains("num");
    const orders = isNumeric ? ["descending", "ascending", null] : ["ascending", "descending", null];
    const order = orders[(orders.indexOf(head.getAttribute("aria-sort")) + 1) % orders.length];
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    if (order !== null) head.setAttribute("aria-sort", order);
    const sign = order === "descending" ? -1 : 1;
    const rows = order === null ? written : [...written].sort((one, other) => sign * compare(one.cells[column], other.cells[column], isNumeric, sign));
    table.tBodies[0].append(...rows);
  }

  function compare(one, other, isNumeric, sign) {
    if (!isNumeric) return one.textContent.localeCompare(other.textContent);
    const [left, right] = [one, other].map((cell) => ("value" in cell.dataset ? Number(cell.dataset.value) : sign * Infinity));
    return left === right ? 0 : left - right;
  }

  // The contents show which chapter is being read.
  function followReader() {
    const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
    const watcher = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          for (const link of links.values()) link.removeAttribute("aria-current");
          links.get(entry.target.id)?.setAttribute("aria-current", "true");
        }
      },
      { rootMargin: "-20% 0px -75% 0px" },
    );
    for (const section of document.querySelectorAll("section[id]")) watcher.observe(section);
  }

  document.querySelectorAll("table.data").forEach(makeSortable);
  followReader();
  prefersDark.addEventListener("change", () => drawAll());
  isNarrow.addEventListener("change", () => drawAll());
  addEventListener("beforeprint", () => drawAll({ forPaper: true }));
  addEventListener("afterprint", () => drawAll());
  drawAll();
})();
