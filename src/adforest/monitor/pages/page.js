// Everything can be read without this. It keeps the page new, steps through figures, and asks for parts instead of pages.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("scripted");
  const store = {
    get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
    set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept, then */ } },
  };
  if (["light", "dark"].includes(store.get("theme"))) root.dataset.theme = store.get("theme");

  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameSwitch = () => {
    const button = document.getElementById("theme");
    if (button) button.textContent = isDark() ? "Light" : "Dark";
  };

  // Parts: what changed is swapped, and what was open, focused or scrolled there stays so.
  const state = (part) => ({
    open: [...part.querySelectorAll("details")].map((one) => one.open),
    scroll: [...part.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]),
    typed: new Map([...part.querySelectorAll("input")].filter((one) => one.value !== one.defaultValue)
      .map((one) => [one.name, one.value])),
    focus: focusPath(part),
    zoom: part.querySelector("svg.tree")?.dataset.zoom,
  });
  function focusPath(part) {
    const focused = document.activeElement;
    if (!focused || focused === document.body || !part.contains(focused)) return null;
    const how = focused.name ? `[name="${CSS.escape(focused.name)}"]` : focused.tagName;
    return [how, [...part.querySelectorAll(how)].indexOf(focused)];
  }
  function restore(part, before, typed) {
    part.querySelectorAll("details").forEach((one, i) => { if (i in before.open) one.open = before.open[i]; });
    part.querySelectorAll(".scroll").forEach((one, i) => {
      if (i in before.scroll) [one.scrollLeft, one.scrollTop] = before.scroll[i];
    });
    if (typed) part.querySelectorAll("input").forEach((one) => {
      if (before.typed.has(one.name)) one.value = before.typed.get(one.name);
    });
    if (before.focus) part.querySelectorAll(before.focus[0])[before.focus[1]]?.focus({ preventScroll: true });
    if (before.zoom) zoomTo(part.querySelector("svg.tree"), Number(before.zoom));
  }
  function swap(page, only, typed = true) {
    let n = 0;
    page.querySelectorAll("[data-part]").forEach((fresh) => {
      const old = document.getElementById(fresh.id);
      if (!old || (only && fresh.id !== only) || old.dataset.mark === fresh.dataset.mark) return;
      const before = state(old);
      old.replaceWith(fresh);
      restore(fresh, before, typed);
      prepare(fresh);
      n += 1;
    });
    return n;
  }
  async function ask(address, options) {
    const answer = await fetch(address, { credentials: "same-origin", ...options });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }
  const say = (text) => { document.getElementById("said").textContent = text; };

  // News: the server names the version of the file; the page asks for itself again when that is another one.
  let record = null; // what was typed and classified last
  let busy = false, again = false;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      do {
        again = false;
        const options = record ? { method: "POST", body: record } : {};
        const page = await ask(location.href.replace(/#.*/, ""), options);
        swap(page, null);
        const main = document.querySelector("main"), fresh = page.querySelector("main");
        main.dataset.version = fresh.dataset.version;
        document.title = page.title;
        document.querySelector("link[rel=icon]").href = page.querySelector("link[rel=icon]").href;
        say(document.querySelector("h1").textContent);
      } while (again);
      mark("on");
    } catch {
      mark("off");
      setTimeout(refresh, 3000);
    } finally { busy = false; }
  }
  function mark(kind) {
    const light = document.getElementById("live");
    if (!light) return;
    light.dataset.state = kind;
    light.textContent = { on: "live", off: "not connected" }[kind];
  }
  function listen() {
    const main = document.querySelector("main");
    if (!main.dataset.events) return;
    const source = new EventSource(main.dataset.events);
    source.addEventListener("open", () => mark("on"));
    source.addEventListener("error", () => mark("off"));
    source.addEventListener("version", (event) => {
      mark("on");
      if (event.data !== main.dataset.version) refresh();
    });
    addEventListener("pagehide", () => source.close());
  }

  // A served model: counts of its records change without its file.
  function watchService() {
    const address = document.querySelector("main").dataset.service;
    if (address) setInterval(async () => {
      if (document.hidden) return;
      try { swap(await ask(address), "service"); } catch { /* the events tell that it ended */ }
    }, 2000);
  }

  // Figures over time: the pointer, or the arrow keys, step through the rows of their table.
  function stepThrough(figure) {
    const rows = [...figure.querySelectorAll("tr[data-x]")];
    const plots = figure.querySelector(".plots");
    if (!rows.length || !plots) return;
    const heads = [...figure.querySelectorAll("thead th")];
    const places = rows.map((row) => Number(row.dataset.x));
    const readout = document.createElement("p");
    readout.className = "readout";
    readout.setAttribute("aria-live", "polite");
    plots.after(readout);
    plots.tabIndex = 0;
    plots.setAttribute("role", "group");
    plots.setAttribute("aria-label", `${figure.querySelector("h3").textContent}: step through batches with the arrow keys`);
    const svgs = [...plots.querySelectorAll("svg.plot")];
    let at = -1;
    const show = (place) => {
      at = Math.max(0, Math.min(rows.length - 1, place));
      readout.replaceChildren();
      [...rows[at].cells].forEach((cell, i) => {
        if ("quiet" in heads[i].dataset) return;
        const value = document.createElement("b");
        value.textContent = cell.textContent;
        readout.append(i ? " · " : "", `${heads[i].textContent} `, value);
      });
      svgs.forEach((svg) => {
        let line = svg.querySelector(".cursor");
        if (!line) {
          line = document.createElementNS("http://www.w3.org/2000/svg", "line");
          line.setAttribute("class", "cursor");
          line.setAttribute("y1", 0);
          line.setAttribute("y2", svg.querySelector(".stretched").getAttribute("height"));
          svg.append(line);
        }
        line.setAttribute("x1", `${places[at]}%`);
        line.setAttribute("x2", `${places[at]}%`);
      });
    };
    plots.addEventListener("pointermove", (event) => {
      const box = svgs[0].getBoundingClientRect();
      const share = 100 * (event.clientX - box.left) / box.width;
      let best = 0;
      places.forEach((place, i) => { if (Math.abs(place - share) < Math.abs(places[best] - share)) best = i; });
      if (best !== at) show(best);
    });
    plots.addEventListener("keydown", (event) => {
      const last = rows.length - 1;
      const to = { ArrowLeft: at < 0 ? last : at - 1, ArrowRight: at < 0 ? last : at + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(to);
    });
  }

  // Trees: larger and smaller; the frame around them scrolls.
  function zoomTo(svg, factor) {
    if (!svg) return;
    const zoom = Math.min(4, Math.max(0.15, factor));
    svg.dataset.zoom = zoom;
    svg.setAttribute("width", svg.dataset.width * zoom);
    svg.setAttribute("height", svg.dataset.height * zoom);
  }
  function zoomable(frame) {
    const svg = frame.querySelector("svg.tree");
    const now = () => Number(svg.dataset.zoom || 1);
    const share = () => Math.min(1, (frame.clientWidth - 24) / svg.dataset.width);
    const fit = () => zoomTo(svg, share());
    if (!svg.dataset.zoom) zoomTo(svg, Math.max(0.8, share()));
    frame.closest("section").querySelectorAll("[data-zoom]").forEach((button) => {
      if (button.tagName !== "BUTTON") return;
      const how = { in: () => zoomTo(svg, now() * 1.25), out: () => zoomTo(svg, now() / 1.25), fit };
      button.addEventListener("click", how[button.dataset.zoom]);
    });
    frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomTo(svg, now() * Math.exp(-event.deltaY / 300));
    }, { passive: false });
    frame.addEventListener("keydown", (event) => {
      if (event.target !== frame || event.ctrlKey || event.metaKey) return;
      const how = { "+": 1.25, "-": 1 / 1.25, 0: 1 / now() }[event.key];
      if (how) { event.preventDefault(); zoomTo(svg, now() * how); }
    });
  }

  // Links and forms that ask for one part: that part alone is swapped.
  async function follow(address, part, options, typed) {
    try {
      const page = await ask(address, options);
      swap(page, part, typed);
      if (!options) history.replaceState(null, "", address.replace(/#.*/, ""));
    } catch (error) { say(String(error)); mark("off"); }
  }
  const merged = (query) => {
    const all = new URLSearchParams(location.search);
    new URLSearchParams(query).forEach((value, key) => all.set(key, value));
    return `?${all}`;
  };
  function prepare(within) {
    within.querySelectorAll("time").forEach((one) => {
      one.textContent = new Date(one.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    });
    within.querySelectorAll(".steps").forEach(stepThrough);
    within.querySelectorAll(".canvas").forEach(zoomable);
    within.querySelectorAll("a[data-swap]").forEach((link) => link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const address = link.getAttribute("href") ?? link.href.baseVal;
      follow(merged(address.replace(/#.*/, "").slice(1)), link.dataset.swap);
    }));
    within.querySelectorAll("form[data-swap]").forEach((form) => {
      const send = () => {
        const content = new URLSearchParams(new FormData(form));
        if (form.method === "get") { content.set("node", 0); follow(merged(content), form.dataset.swap); }
        else { record = content; follow(location.pathname + location.search, form.dataset.swap, { method: "POST", body: content }, false); }
      };
      form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
      if (form.method === "get") form.addEventListener("change", send);
    });
  }
  addEventListener("DOMContentLoaded", () => {
    nameSwitch();
    document.getElementById("theme")?.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      store.set("theme", root.dataset.theme);
      nameSwitch();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameSwitch);
    prepare(document);
    listen();
    watchService();
  });
})();
